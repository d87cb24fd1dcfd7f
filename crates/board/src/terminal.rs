//! Words and tables for a terminal.

/// Words of a server or of a record, on one line and without control characters.
pub fn one_line(words: &str) -> String {
    ws_proto::escaped(&words.replace(['\n', '\t'], " "))
}

/// The lines of a grid of cells, each column as wide as its widest cell. `right` names the columns
/// whose cells stand at the right.
pub fn aligned<L: AsRef<[String]>>(grid: &[L], right: impl Fn(usize) -> bool) -> Vec<String> {
    let mut widths: Vec<usize> = Vec::new();
    for line in grid {
        let line = line.as_ref();
        widths.resize(widths.len().max(line.len()), 0);
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let padded = |(column, cell): (usize, &String)| match (right(column), widths[column]) {
        (true, width) => format!("{cell:>width$}"),
        (false, width) => format!("{cell:<width$}"),
    };
    let lines = grid.iter().map(|line| {
        let cells: Vec<String> = line.as_ref().iter().enumerate().map(padded).collect();
        cells.join("  ").trim_end().to_owned()
    });
    lines.collect()
}

/// Numbers of cores as people write them: "0, 1, 5".
pub fn listed(cpus: &[usize]) -> String {
    let words: Vec<String> = cpus.iter().map(ToString::to_string).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_on_one_line_and_steer_no_terminal() {
        let words = "made\nred\x1b[31m\tand turned\u{202e}round";
        assert_eq!(
            one_line(words),
            "made red\\u{1b}[31m and turned\\u{202e}round"
        );
    }
}
