//! Curves on doubly logarithmic paper, as SVG: a panel for each operation, a curve for each side.

use core::fmt::Write as _;

/// One side of a panel.
pub(crate) struct Curve {
    pub(crate) name: &'static str,
    pub(crate) colour: &'static str,
    /// Both above 0; x ascending.
    pub(crate) points: Vec<(f64, f64)>,
    /// The reason why it ends early, if it does.
    pub(crate) end: Option<&'static str>,
}

pub(crate) struct Panel {
    pub(crate) title: &'static str,
    pub(crate) curves: Vec<Curve>,
}

const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 270.0;
/// Margins of a panel around its plot.
const LEFT: f64 = 62.0;
const TOP: f64 = 34.0;
const RIGHT: f64 = 18.0;
const BOTTOM: f64 = 34.0;

/// Two panels in a row. x counts chunks, y is in seconds.
pub(crate) fn svg(panels: &[Panel]) -> String {
    let rows = panels.len().div_ceil(2);
    let (width, height) = (2.0 * WIDTH, number(rows) * HEIGHT);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (n, panel) in panels.iter().enumerate() {
        let (x, y) = (number(n % 2) * WIDTH, number(n / 2) * HEIGHT);
        let _ = writeln!(text, "<g transform=\"translate({x} {y})\">");
        draw(panel, &mut text);
        text.push_str("</g>\n");
    }
    text.push_str("</svg>\n");
    text
}

fn draw(panel: &Panel, text: &mut String) {
    let all = || panel.curves.iter().flat_map(|curve| &curve.points);
    let x = Axis::over(all().map(|point| point.0), LEFT, WIDTH - RIGHT);
    let y = Axis::over(all().map(|point| point.1), HEIGHT - BOTTOM, TOP);
    let _ = writeln!(text, "<text x=\"{LEFT}\" y=\"20\" font-size=\"13\">{}</text>", panel.title);
    for decade in x.decades() {
        let at = x.place(10_f64.powi(decade));
        line(text, (at, TOP), (at, HEIGHT - BOTTOM));
        label(text, (at, HEIGHT - BOTTOM + 15.0), "middle", "#444", &chunks(decade));
    }
    for decade in y.decades() {
        let at = y.place(10_f64.powi(decade));
        line(text, (LEFT, at), (WIDTH - RIGHT, at));
        label(text, (LEFT - 6.0, at + 4.0), "end", "#444", &seconds(decade));
    }
    for (n, curve) in panel.curves.iter().enumerate() {
        draw_curve(curve, &x, &y, text);
        label(text, (LEFT + 8.0, TOP + 14.0 + 14.0 * number(n)), "start", curve.colour, curve.name);
    }
}

fn draw_curve(curve: &Curve, x: &Axis, y: &Axis, text: &mut String) {
    let places: Vec<(f64, f64)> =
        curve.points.iter().map(|point| (x.place(point.0), y.place(point.1))).collect();
    let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let (colour, path) = (curve.colour, path.join(" "));
    let _ = writeln!(
        text,
        "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
    );
    for (x, y) in &places {
        let _ = writeln!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
    }
    if let (Some(why), Some((x, y))) = (curve.end, places.last()) {
        label(text, (x + 8.0, y + 4.0), "start", colour, why);
    }
}

fn line(text: &mut String, from: (f64, f64), to: (f64, f64)) {
    let _ = writeln!(
        text,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"#ddd\"/>",
        from.0, from.1, to.0, to.1
    );
}

fn label(text: &mut String, at: (f64, f64), anchor: &str, colour: &str, words: &str) {
    let (x, y) = at;
    let _ = writeln!(
        text,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{words}</text>"
    );
}

/// An axis from whole decade to whole decade.
struct Axis {
    decades: (i32, i32),
    from: f64,
    to: f64,
}

impl Axis {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "exponents of numbers that someone measured"
    )]
    fn over(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min).log10().floor() as i32;
        let high = values.fold(0.0, f64::max).log10().ceil() as i32;
        Self { decades: (low, high.max(low + 1)), from, to }
    }

    fn decades(&self) -> impl Iterator<Item = i32> + use<> {
        self.decades.0..=self.decades.1
    }

    fn place(&self, value: f64) -> f64 {
        let (low, high) = (f64::from(self.decades.0), f64::from(self.decades.1));
        self.from + (value.log10() - low) / (high - low) * (self.to - self.from)
    }
}

fn chunks(decade: i32) -> String {
    match decade {
        6.. => format!("{}M", 10_i64.pow(decade.unsigned_abs() - 6)),
        3.. => format!("{}k", 10_i64.pow(decade.unsigned_abs() - 3)),
        _ => format!("{}", 10_f64.powi(decade)),
    }
}

fn seconds(decade: i32) -> String {
    let (unit, base) = match decade {
        0.. => ("s", 0),
        -3.. => ("ms", -3),
        -6.. => ("us", -6),
        _ => ("ns", -9),
    };
    format!("{} {unit}", 10_f64.powi(decade - base))
}

fn number(n: usize) -> f64 {
    u32::try_from(n).map_or(f64::MAX, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_is_logarithmic_and_whole_decades_long() {
        let axis = Axis::over([20.0, 700.0].into_iter(), 0.0, 300.0);
        assert!(axis.decades().eq(1..=3));
        assert!((axis.place(100.0) - 150.0).abs() < 1e-9);
    }

    #[test]
    fn labels_have_units() {
        assert_eq!([2, 3, 4, 6].map(chunks), ["100", "1k", "10k", "1M"]);
        assert_eq!(
            [-8, -6, -5, -3, 0, 1].map(seconds),
            ["10 ns", "1 us", "10 us", "1 ms", "1 s", "10 s"]
        );
    }

    #[test]
    fn every_point_is_drawn_and_an_early_end_explained() {
        let points = vec![(1e3, 1e-6), (1e4, 2e-6), (1e5, 4e-6)];
        let curve = Curve { name: "ours", colour: "blue", points, end: Some("too long") };
        let text = svg(&[Panel { title: "append", curves: vec![curve] }]);
        assert_eq!(text.matches("<circle").count(), 3);
        assert!(
            text.contains(">too long<") && text.contains(">append<") && text.ends_with("</svg>\n"),
            "{text}"
        );
    }
}
