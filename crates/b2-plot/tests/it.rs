//! The tests of the interface.

mod shapes;

use std::io::Cursor;

use b2_plot::{
    AxisRange, Cell, Cells, Content, Extent, Histogram, Line, Map, Note, Rgb, Scene, color,
};

/// One scene of each kind, with values that are not finite.
fn scenes() -> Vec<(&'static str, Scene)> {
    let mut line = Line::new(6, 6);
    line.add(0, &[1.0, f64::NAN, 3.0, f64::INFINITY, f64::NEG_INFINITY, 2.0]);
    let mut map = Map::new([2, 3], 2, 3);
    map.add(&(0..2), &(0..3), &[0.0, 1.0, 2.0, 3.0, 4.0, f64::NAN]);
    let mut bars = Histogram::new(0.0, 4.0, 4);
    bars.count(&[0.5, 1.5, 1.6, 3.9], 1);
    vec![
        ("line", Scene::new("t", Content::lines([("a".to_owned(), line)]))),
        ("map", Scene::new("t", Content::map(map))),
        ("bars", Scene::new("t", Content::Bars(bars))),
    ]
}

/// Width and colours of a file of PNG.
fn pixels(file: &[u8]) -> (usize, Vec<Rgb>) {
    let mut reader = png::Decoder::new(Cursor::new(file)).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    let colors = bytes.chunks_exact(3).map(|rgb| Rgb(rgb[0], rgb[1], rgb[2])).collect();
    (info.width as usize, colors)
}

#[test]
fn every_kind_has_its_colours_in_every_format() {
    for (name, scene) in scenes() {
        let (width, colors) = pixels(&scene.png(320, 200));
        assert_eq!((width, colors.len()), (320, 320 * 200), "{name}");
        let svg = scene.svg(320, 200);
        let cells = scene.cells(60, 20, true);
        let has = |wanted: Rgb| {
            let Rgb(r, g, b) = wanted;
            let in_cells =
                cells.cells.iter().any(|cell| [cell.fore, cell.back].contains(&Some(wanted)));
            let in_svg = svg.contains(&format!("#{r:02x}{g:02x}{b:02x}"));
            (colors.contains(&wanted), in_svg, in_cells)
        };
        match name {
            "line" => {
                assert_eq!(has(color::LINES[0]), (true, true, true));
                assert_eq!(has(color::NAN), (true, true, true));
            }
            // The cells of a map are one picture in an SVG.
            "map" => {
                assert_eq!(has(color::NAN), (true, false, true));
                assert_eq!(has(color::map(0.0)), (true, false, true));
                assert!(svg.contains("data:image/png;base64,"));
            }
            _ => assert_eq!(has(color::LINES[0]), (true, true, true)),
        }
    }
}

#[test]
fn pieces_give_the_picture_that_the_whole_gives() {
    let values: Vec<f64> = (0..5000).map(|n| f64::from((n * 7919) % 1000)).collect();
    let scene = |len: usize| {
        let mut line = Line::new(5000, 300);
        for (n, piece) in values.chunks(len).enumerate() {
            line.add((n * len) as u64, piece);
        }
        Scene::new("t", Content::lines([(String::new(), line)]))
    };
    let whole = scene(5000);
    for len in [1, 333, 4096] {
        assert_eq!(scene(len).png(320, 200), whole.png(320, 200), "{len}");
        assert_eq!(scene(len).svg(320, 200), whole.svg(320, 200), "{len}");
        assert_eq!(scene(len).cells(40, 9, true), whole.cells(40, 9, true), "{len}");
    }
}

#[test]
fn texts_are_shown_and_cannot_leave_their_place() {
    let mut scene = scenes().remove(0).1;
    scene.title = "a<b>".to_owned();
    (scene.x_label, scene.y_label) = ("across".to_owned(), "up".to_owned());
    scene.notes.push(Note { color: None, text: "a remark".to_owned() });
    let svg = scene.svg(400, 300);
    for text in ["a&lt;b&gt;", "across", "up", "a remark"] {
        assert!(svg.contains(&format!(">{text}</text>")), "{text}\n{svg}");
    }
    let cells = scene.cells(60, 20, false);
    let rows: Vec<String> =
        (0..20).map(|row| cells.row(row).map(|cell| cell.symbol).collect()).collect();
    assert!(rows[0].starts_with("a<b>   up"), "{rows:?}");
    assert!(rows[19].starts_with("across; a remark"), "{rows:?}");
}

#[test]
fn axes_say_what_the_values_are() {
    let mut scene = scenes().remove(0).1;
    scene.x = AxisRange { time_unit: Some("D".to_owned()), ..AxisRange::new(0.0, 800.0) };
    assert!(scene.svg(400, 300).contains(">1970-07</text>"));
    let texts: Vec<String> =
        AxisRange::new(0.0, 4.0).ticks(5).into_iter().map(|it| it.text).collect();
    assert_eq!(texts, ["0", "1", "2", "3", "4"]);
}

#[test]
fn cells_are_pixels_of_a_terminal() {
    let (fore, back) = (Rgb(200, 200, 200), Rgb(10, 10, 10));
    let mut cells = Cells::new(3, 2);
    cells.cells[0] = Cell { symbol: '█', fore: None, back: None };
    cells.cells[1] = Cell { symbol: 'x', fore: Some(Rgb(255, 0, 0)), back: Some(Rgb(0, 0, 255)) };
    let (width, colors) = pixels(&cells.png(fore, back));
    assert_eq!((width, colors.len()), (21, 21 * 34));
    let cell = |x: usize, y: usize| -> Vec<Rgb> {
        (0..17 * 7).map(|n| colors[(17 * y + n / 7) * 21 + 7 * x + n % 7]).collect()
    };
    assert!(cell(0, 0).iter().all(|color| *color == fore));
    assert!(cell(1, 0).contains(&Rgb(0, 0, 255)) && cell(1, 0).iter().any(|rgb| rgb.0 > 200));
    assert!(cell(2, 1).iter().all(|color| *color == back));
}

#[test]
fn extents_and_counts_leave_out_what_is_not_finite() {
    let mut extent = Extent::EMPTY;
    assert_eq!(extent.ends(), None);
    extent.add(&[f64::NAN, 2.0, -1.0, f64::INFINITY]);
    assert_eq!(extent.ends(), Some((-1.0, 2.0)));
    let Content::Lines { lines, .. } = &scenes()[0].1.content else { panic!("lines") };
    let tally = lines[0].1.tally;
    assert_eq!((tally.nitems, tally.nan, tally.inf), (6, 1, 2));
    assert_eq!(tally.join(tally).nitems, 12);
    assert_eq!(scenes()[2].1.content.extent().ends(), Some((0.0, 4.0)));
}
