//! Characters with colours as a terminal wants them.

use anstyle::{Ansi256Color, Color, RgbColor, Style};
use b2_plot::{Cell, Cells, Rgb};

/// The lines with their colours as a terminal wants them.
pub(crate) fn styled(cells: &Cells, is_true_color: bool) -> String {
    let mut text = String::new();
    let color = |color: Rgb| match is_true_color {
        true => Color::from(RgbColor(color.0, color.1, color.2)),
        false => Color::from(Ansi256Color(cube_color(color))),
    };
    for line in cells.cells.chunks(cells.width.max(1)) {
        let end = line.iter().rposition(|cell| *cell != Cell::BLANK).map_or(0, |last| last + 1);
        let mut style = Style::new();
        for cell in &line[..end] {
            let wanted = Style::new().fg_color(cell.fore.map(color)).bg_color(cell.back.map(color));
            if wanted != style {
                text += &format!("{style:#}{wanted}");
                style = wanted;
            }
            text.push(cell.symbol);
        }
        text += &format!("{style:#}\n");
    }
    text
}

/// The nearest colour of the 216 that every terminal with colours has.
fn cube_color(Rgb(r, g, b): Rgb) -> u8 {
    let level = |part: u8| u8::try_from((u16::from(part) * 5 + 127) / 255).unwrap_or(5);
    16 + 36 * level(r) + 6 * level(g) + level(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_change_where_they_differ_and_lines_end_with_their_text() {
        let mut cells = Cells::new(4, 2);
        let red = Some(Rgb(255, 0, 0));
        cells.cells[1] = Cell { symbol: 'a', fore: red, back: None };
        cells.cells[2] = Cell { symbol: 'b', fore: red, back: None };
        assert_eq!(styled(&cells, true), " \u{1b}[38;2;255;0;0mab\u{1b}[0m\n\n");
        assert_eq!(styled(&cells, false), " \u{1b}[38;5;196mab\u{1b}[0m\n\n");
    }
}
