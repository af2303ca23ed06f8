//! Positions of drawn shapes.

use b2_plot::{AxisRange, Cells, Content, Histogram, Line, Map, Note, Rgb, Scene, color};

fn line(values: &[f64]) -> Line {
    let mut line = Line::new(values.len() as u64, values.len());
    line.add(0, values);
    line
}

/// The attribute of every element with this name in a text of SVG.
fn attributes(svg: &str, element: &str, name: &str) -> Vec<f64> {
    let elements = svg.lines().filter(|line| line.starts_with(&format!("<{element} ")));
    let value = |line: &str| {
        let (_, rest) = line.split_once(&format!(" {name}=\""))?;
        rest.split_once('"')?.0.parse().ok()
    };
    elements.filter_map(value).collect()
}

fn rows(cells: &Cells) -> Vec<String> {
    (0..cells.height).map(|row| cells.row(row).map(|cell| cell.symbol).collect()).collect()
}

#[test]
fn a_rising_line_rises() {
    let values: Vec<f64> = (0..50).map(f64::from).collect();
    let svg = Scene::new("t", Content::lines([(String::new(), line(&values))])).svg(400, 300);
    let path = svg.lines().find(|line| line.starts_with("<polyline")).unwrap();
    let points = path.split_once("points=\"").unwrap().1.split_once('"').unwrap().0;
    let points: Vec<(f64, f64)> = points
        .split(' ')
        .map(|point| point.split_once(',').unwrap())
        .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
        .collect();
    assert_eq!(points.len(), 50);
    assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1));
}

#[test]
fn values_that_are_missing_cut_a_line() {
    let paths = |values: &[f64]| {
        let svg = Scene::new("t", Content::lines([(String::new(), line(values))])).svg(400, 300);
        svg.lines().filter(|line| line.starts_with("<polyline")).count()
    };
    assert_eq!(paths(&[1.0, 2.0, 3.0, 4.0]), 1);
    assert_eq!(paths(&[1.0, 2.0, f64::NAN, 3.0, 4.0]), 2);
    assert_eq!(paths(&[f64::NAN, f64::INFINITY]), 0);
}

#[test]
fn shapes_stay_on_the_picture_at_every_size() {
    let mut map = Map::new([5, 7], 5, 7);
    map.add(&(0..5), &(0..7), &(0..35).map(f64::from).collect::<Vec<_>>());
    let mut bars = Histogram::new(-1.0, 1.0, 9);
    bars.count(&[-1.0, 0.0, 0.1, 1.0], 3);
    let extremes = line(&[-f64::MAX, 0.0, f64::MAX]);
    for content in [
        Content::map(map),
        Content::Bars(bars),
        Content::lines([("a".to_owned(), extremes.clone()), ("b".to_owned(), extremes)]),
    ] {
        let scene = Scene::new("a title that is longer than most pictures are wide", content);
        for (width, height) in [(160, 120), (320, 900), (1200, 130)] {
            let svg = scene.svg(width, height);
            for (name, most) in [("x", width), ("y", height)] {
                let all = attributes(&svg, "rect", name);
                assert!(all.len() > 4, "{svg}");
                let most = f64::from(most);
                assert!(all.iter().all(|at| (-3.0..=most).contains(at)), "{name} {all:?}");
            }
            assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
        }
    }
}

#[test]
fn bars_are_as_high_as_their_counts() {
    let mut bars = Histogram::new(0.0, 3.0, 3);
    bars.count(&[0.5], 1);
    bars.count(&[1.5], 4);
    assert_eq!(bars.counts, [1, 4, 0]);
    let svg = Scene::new("t", Content::Bars(bars)).svg(400, 300);
    let Rgb(r, g, b) = color::LINES[0];
    let drawn = format!("fill=\"#{r:02x}{g:02x}{b:02x}\"");
    let drawn: Vec<&str> =
        svg.lines().filter(|line| line.ends_with(&(drawn.clone() + "/>"))).collect();
    let heights = attributes(&drawn.join("\n"), "rect", "height");
    assert_eq!(heights.len(), 3);
    assert!((heights[1] / heights[0] - 4.0).abs() < 0.1, "{heights:?}");
    assert_eq!(heights[2], 0.0);
}

#[test]
fn the_first_row_of_a_map_is_above() {
    let mut map = Map::new([2, 2], 2, 2);
    map.add(&(0..2), &(0..2), &[0.0, 0.0, 9.0, 9.0]);
    let cells = Scene::new("t", Content::map(map)).cells(30, 8, false);
    let rows = rows(&cells);
    assert!(rows[0].trim().is_empty(), "{rows:?}");
    assert!(rows[6].contains('█'), "{rows:?}");
}

#[test]
fn notes_and_ticks_of_a_small_screen_give_way() {
    let mut scene = Scene::new("t", Content::lines([(String::new(), line(&[1.0, 2.0]))]));
    scene.notes.push(Note { color: Some(color::NAN), text: "n".repeat(90) });
    let narrow = rows(&scene.cells(30, 6, false));
    assert_eq!(narrow[5], "n".repeat(27) + "...");
    let wide = rows(&scene.cells(120, 20, false));
    assert!(wide[19].starts_with("nnn") && wide[17].contains('┬'), "{wide:?}");
    scene.x = AxisRange { is_reversed: true, ..AxisRange::new(0.0, 1.0) };
    assert_ne!(rows(&scene.cells(120, 20, false)), wide);
}
