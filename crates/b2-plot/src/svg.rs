//! A canvas as SVG, in which the cells of a map are one embedded picture.

use core::fmt::Write;

use blosc_dtype::json::base64;

use crate::{
    canvas::{Anchor, Canvas, Shape},
    color::Rgb,
    raster,
};

/// The text of the file.
pub(crate) fn svg(canvas: &Canvas) -> String {
    let (width, height) = (canvas.width, canvas.height);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    for shape in &canvas.shapes {
        write(&mut text, shape);
    }
    text + "</svg>\n"
}

fn write(text: &mut String, shape: &Shape) {
    // Writing to a String never fails.
    let _always = match shape {
        Shape::Rect { x, y, width, height, color } => writeln!(
            text,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>",
            short(*x),
            short(*y),
            short(width.max(0.0)),
            short(height.max(0.0)),
            hex(*color)
        ),
        Shape::Path { points, color } => {
            let points: Vec<String> =
                points.iter().map(|(x, y)| format!("{},{}", short(*x), short(*y))).collect();
            writeln!(
                text,
                "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\" \
                 stroke-linejoin=\"round\" points=\"{}\"/>",
                hex(*color),
                points.join(" ")
            )
        }
        Shape::Text { x, y, text: label, anchor, is_upright, color } => {
            let (x, y) = (short(*x), short(*y));
            let turn = match is_upright {
                true => format!(" transform=\"rotate(-90 {x} {y})\""),
                false => String::new(),
            };
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let (color, label) = (hex(*color), escaped(label));
            writeln!(
                text,
                "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" fill=\"{color}\"{turn}>{label}</text>"
            )
        }
        Shape::Cells { x, y, width, height, ncols, colors } => {
            // A picture has at least one pixel.
            if *ncols == 0 || colors.len() < *ncols {
                return;
            }
            let file = raster::cells_png(*ncols, colors);
            writeln!(
                text,
                "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
                 style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>",
                short(*x),
                short(*y),
                short(width.max(0.0)),
                short(height.max(0.0)),
                base64::encode(&file)
            )
        }
    };
}

/// A coordinate, rounded to a tenth of a pixel.
fn short(at: f64) -> String {
    let text = format!("{:.1}", if at.is_finite() { at } else { 0.0 });
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn hex(Rgb(r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A text, escaped for XML; characters that XML forbids become question marks.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('?'),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_leave_their_place() {
        assert_eq!(escaped("a</text><script>&\u{1b}[0m"), "a&lt;/text&gt;&lt;script&gt;&amp;?[0m");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([1.0, 2.25, -0.04, f64::NAN].map(short), ["1", "2.2", "0", "0"]);
    }
}
