//! The picture of a timeline that is made by hand.

use super::*;

const SECOND: u64 = 1_000_000_000;

fn mark(at_ns: u64, label: &str) -> FaultMark {
    FaultMark {
        at_ns,
        label: label.to_owned(),
    }
}

/// Forty seconds in tenths, with losses of two kinds in one part.
fn watched() -> Watched {
    let mut timeline = Timeline::new(SECOND / 10, 400);
    timeline.sent = vec![5; 400];
    timeline.live = vec![1_000; 400];
    timeline.ready = vec![200; 400];
    timeline.slowest_ns = vec![2_000_000; 400];
    timeline.slowest_ns[100..120].fill(0);
    timeline.lost_silent[101] = 30;
    timeline.lost_away[101] = 4;
    let mut watched = Watched {
        timeline,
        ..Watched::default()
    };
    watched.of_confirmed.live = 399_000;
    watched.of_confirmed.lost_silent = 30;
    watched.of_unconfirmed.lost_away = 4;
    watched
}

#[test]
fn the_picture_has_every_loss_and_every_fault_with_its_words() {
    let marks = [
        mark(10 * SECOND, "kill node:2"),
        mark(15 * SECOND, "start node:2"),
        mark(39 * SECOND, "kill broker"),
    ];
    let svg = WatchedChart::new(&watched(), 200, &marks)
        .unwrap()
        .to_string();
    assert!(
        svg.contains("<title>9.9 to 10.2 s: 34 lost (30 silent, 4 away)</title>"),
        "{svg}"
    );
    assert_eq!(svg.matches("<rect class=\"bar c").count(), 2, "{svg}");
    // The legend has the kinds that there are.
    for (name, is_there) in [
        ("silent", true),
        ("away", true),
        ("cut", false),
        ("joining", false),
    ] {
        assert_eq!(
            svg.contains(&format!(">{name}</text>")),
            is_there,
            "{name}: {svg}"
        );
    }
    assert!(
        svg.contains("<title>kill node:2 at 10.00 s</title>"),
        "{svg}"
    );
    // The second name has no room beside the first, and the last ends before the edge.
    let y = |name: &str| {
        let before = svg.split(&format!(">{name}</text>")).next().unwrap();
        let tag = before.rsplit("<text").next().unwrap();
        tag.split("y=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        (y("kill node:2").as_str(), y("start node:2").as_str()),
        ("16.0", "28.0")
    );
    assert!(
        svg.contains("text-anchor=\"end\">kill broker</text>"),
        "{svg}"
    );
    assert!(
        svg.contains("lost: 30 silently, 4 while the client was away\""),
        "{svg}"
    );
}

#[test]
fn what_is_made_good_stands_on_what_came_live() {
    let mut of = watched();
    of.timeline.live[102..105].fill(0);
    of.timeline.made_good[102..105].fill(1_000);
    let chart = WatchedChart::new(&of, 200, &[]).unwrap();
    let titles: Vec<&str> = chart.stacks.iter().map(|stack| &*stack.title).collect();
    assert_eq!(
        titles,
        [
            "9.9 to 10.2 s: 34 lost (30 silent, 4 away)",
            "10.2 to 10.5 s: 3,000 made good later"
        ]
    );
    let bar = &chart.stacks[1].bars[0];
    // The whole of the lane: nothing came live, and as much came later as else comes live.
    assert_eq!((bar.y, bar.height), (chart.top + 14.0, LANE));
    assert_eq!(chart.kinds[0].name, "made good later");
}

#[test]
fn the_line_ends_on_its_level_with_the_last_message() {
    let mut of = watched();
    // The last column of messages has one part of three.
    of.timeline.sent[364..].fill(0);
    of.timeline.live[364..].fill(0);
    let chart = WatchedChart::new(&of, 200, &[]).unwrap();
    let ends: Vec<&str> = chart.lanes[0].d.split(' ').collect();
    let heights: Vec<&str> = ends
        .iter()
        .skip(1)
        .map(|end| end.split('L').next().unwrap())
        .collect();
    assert!(
        heights.iter().all(|height| *height == heights[0]),
        "{}",
        chart.lanes[0].d
    );
}

#[test]
fn a_line_has_a_gap_where_nothing_came() {
    let chart = WatchedChart::new(&watched(), 200, &[]).unwrap();
    assert_eq!(
        chart.lanes[3].d.matches('M').count(),
        2,
        "{}",
        chart.lanes[3].d
    );
    assert_eq!(chart.lanes[0].d.matches('M').count(), 1);
}

#[test]
fn a_step_that_loses_nothing_and_a_record_that_is_broken_are_drawn() {
    let mut quiet = watched();
    quiet.timeline.lost_silent = Vec::new();
    quiet.timeline.lost_away = Vec::new();
    quiet.timeline.slowest_ns = vec![0; 400];
    quiet.timeline.tick_ns = 0;
    let chart = WatchedChart::new(&quiet, 0, &[mark(u64::MAX, "kill broker")]).unwrap();
    assert!(chart.stacks.is_empty() && chart.kinds.is_empty());
    assert!(!chart.to_string().contains("NaN"));
    quiet.timeline = Timeline::new(SECOND, 0);
    assert!(WatchedChart::new(&quiet, 5, &[]).is_none());
}

#[test]
fn names_of_faults_that_have_no_room_are_left_out() {
    let marks: Vec<FaultMark> = (0..9)
        .map(|n| mark(20 * SECOND + n, "terminate node:1"))
        .collect();
    let svg = WatchedChart::new(&watched(), 200, &marks)
        .unwrap()
        .to_string();
    assert_eq!(svg.matches("class=\"fault-name\"").count(), MOST_NAMES);
    assert_eq!(svg.matches("class=\"fault\"").count(), 9);
}
