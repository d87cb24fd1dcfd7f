//! `shootout compare`: whether B is slower than A.

use super::{Context, read_again};
use crate::cli::CompareArgs;
use crate::exit::Exit;
use board::compare::{Figure, Overall, Question, Side, read, text};
use board::stats;
use project::Refusal;

pub(super) fn compare(context: &Context<'_>, args: &CompareArgs) -> Result<Exit, Refusal> {
    let [a, b] = sides(context, args)?;
    for problem in a.left_out.iter().chain(&b.left_out) {
        anstream::eprintln!("shootout: left out: {problem}");
    }
    let mut figures: Vec<Figure> = Vec::new();
    for figure in &args.figures {
        if !figures.contains(figure) {
            figures.push(*figure);
        }
    }
    if figures.is_empty() {
        figures.extend(Figure::USUAL);
    }
    let question = Question {
        figures,
        tolerance: args.tolerance,
        resampling: stats::Resampling::default(),
    };
    let comparison = board::compare::compare(&a, &b, &question);
    if let Some(file) = &args.json {
        read_again::store(file, "comparison", &comparison)?;
    }
    say!("{}", text::comparison(&comparison).trim_end());
    Ok(match comparison.verdict {
        Overall::NoRegression => Exit::Ok,
        Overall::Regression => Exit::Regression,
        Overall::NotComparable => Exit::Invalid,
    })
}

fn sides(context: &Context<'_>, args: &CompareArgs) -> Result<[Side; 2], Refusal> {
    match (&args.servers, args.paths.as_slice()) {
        (Some(names), paths) if paths.len() < 2 => {
            let dir = match paths.first() {
                Some(dir) => dir.clone(),
                None => read_again::newest(
                    context,
                    "compare",
                    "measure first: shootout run --repeat 5",
                )?,
            };
            read::servers(&dir, names)
        }
        (None, [a, b]) => Ok([read::side(a)?, read::side(b)?]),
        _ => Err(Refusal::new(
            "name two records or directories, or one directory and --servers a,b; see shootout \
             compare --help",
        )),
    }
}
