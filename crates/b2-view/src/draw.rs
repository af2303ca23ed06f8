//! Draws the state on a screen of characters.

use b2_plot::{Rgb, Scene};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::{
    Focus, HELP, Pane, Source, Values, View,
    screen::{Area, Color, Screen, Style},
    text::harmless,
};

/// The narrowest column of values, with the space before it.
const MIN_COLUMN: usize = 3;
/// The widest text of a value.
const MAX_TEXT: usize = 40;
/// The narrowest list of members.
const MIN_LIST: usize = 12;

impl<S: Source> View<S> {
    /// Draws a screen of this number of columns and rows, whose last line is `keys`. The visible
    /// rows then define the length of a page.
    pub fn draw_screen(&mut self, (width, height): (u16, u16), keys: &str) -> Screen {
        let mut screen = Screen::new((width, height));
        draw(self, &mut screen, keys);
        screen
    }
}

fn draw<S: Source>(view: &mut View<S>, screen: &mut Screen, keys: &str) {
    let all = screen.area();
    let heading = last_columns(&view.heading(), all.width.saturating_sub(2));
    screen.line(all.row(0), &format!(" {heading}"), Style::REVERSED);
    let last = all.height.saturating_sub(1);
    let body = Area { y: 1, height: all.height.saturating_sub(2), ..all };
    match view.question().or_else(|| view.reply().map(str::to_owned)) {
        Some(typed) => screen.text(all.row(last), &typed, Style::default()),
        None => screen.text(all.row(last), keys, Style::fore(Color::Faint)),
    }
    if view.members().len() < 2 {
        return draw_member(view, screen, body);
    }
    let labels = view.members().iter();
    let widest = labels.map(|m| harmless(&m.label).width() + 2 * m.depth).max().unwrap_or(0);
    let width = (widest + 4).min(body.width / 3).max(MIN_LIST).min(body.width);
    draw_list(view, screen, Area { width, ..body });
    draw_member(view, screen, Area { x: width, width: body.width - width, ..body });
}

/// The end of a text that is too wide: shape and type follow the path.
fn last_columns(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let letters = text.char_indices().rev();
    let last = letters.map_while(|(at, letter)| {
        left = left.checked_sub(letter.width().unwrap_or(0))?;
        Some(at)
    });
    format!("…{}", &text[last.last().unwrap_or(text.len())..])
}

/// Draws the border of a part, in colour if it has the focus, and returns the inner part.
fn border(screen: &mut Screen, area: Area, title: &str, is_focus: bool) -> Area {
    let style = if is_focus { Style::fore(Color::Focus) } else { Style::default() };
    screen.border(area, title, style)
}

fn draw_list<S: Source>(view: &View<S>, screen: &mut Screen, area: Area) {
    let inner = border(screen, area, " members ", view.focus() == Focus::List);
    let first = (view.selected() + 1).saturating_sub(inner.height);
    let members = view.members().iter().enumerate().skip(first).take(inner.height);
    for (y, (n, member)) in members.enumerate() {
        let text = format!("{}{}", "  ".repeat(member.depth), harmless(&member.label));
        let style = if n == view.selected() { Style::REVERSED } else { Style::default() };
        screen.line(inner.row(y), &text, style);
    }
}

fn draw_member<S: Source>(view: &mut View<S>, screen: &mut Screen, area: Area) {
    let name = match view.pane() {
        Pane::Values => view.position().map(|position| format!(" {position} ")).unwrap_or_default(),
        Pane::About => " about ".to_owned(),
        Pane::Chunks => " chunks: bright ones compress well ".to_owned(),
        Pane::Plot => " plot ".to_owned(),
        Pane::Help => " keys ".to_owned(),
    };
    let inner = border(screen, area, &name, view.focus() == Focus::Member);
    if inner.width < MIN_COLUMN || inner.height < 2 {
        return;
    }
    if view.pane() == Pane::Help {
        return screen.paragraph(inner, HELP);
    }
    let opened = match view.opened() {
        Ok(opened) => opened,
        Err(error) => return screen.paragraph(inner, error),
    };
    match view.pane() {
        Pane::Values => {
            let rows = inner.height.saturating_sub(1) as u64;
            match view.values(rows, (inner.width / MIN_COLUMN) as u64) {
                Ok(values) => {
                    let is_scalar = opened.shape().is_empty();
                    let first_row = (!is_scalar).then_some(view.top_left().0);
                    let shown = draw_values(&values, first_row, screen, inner);
                    view.set_page(rows, shown);
                }
                Err(error) => screen.paragraph(inner, &error),
            }
        }
        Pane::About => {
            let about = opened.about();
            let width = about.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
            let lines = about.iter().map(|(name, text)| format!("{name:width$}  {text}"));
            screen.paragraph(inner, &lines.collect::<Vec<_>>().join("\n"));
        }
        Pane::Chunks => draw_chunks(view, screen, inner),
        Pane::Plot => match view.scene() {
            Some(Ok(scene)) => draw_picture(scene, screen, inner),
            Some(Err(error)) => screen.paragraph(inner, error),
            None => {}
        },
        Pane::Help => {}
    }
}

/// Draws as many columns as fit, and returns their number. Rows have numbers from `first_row` on.
fn draw_values(values: &Values, first_row: Option<u64>, screen: &mut Screen, area: Area) -> u64 {
    let short = |text: &str| -> String {
        if text.width() <= MAX_TEXT {
            return text.to_owned();
        }
        let mut width = 0;
        let is_before_end = |letter: &char| {
            width += letter.width().unwrap_or(0);
            width < MAX_TEXT
        };
        text.chars().take_while(is_before_end).chain(['…']).collect()
    };
    let label = |n: usize| first_row.map_or(String::new(), |first| (first + n as u64).to_string());
    let labels: Vec<String> = (0..values.rows.len()).map(label).collect();
    let label_width = labels.iter().map(String::len).max().unwrap_or(0);
    let gray = Style::fore(Color::Faint);
    for (y, label) in labels.iter().enumerate() {
        screen.text(area.row(y + 1), &format!("{label:>label_width$}"), gray);
    }
    let mut rest =
        Area { x: area.x + label_width, width: area.width.saturating_sub(label_width), ..area };
    let mut shown = 0;
    for (column, name) in values.names.iter().enumerate() {
        let texts = values.rows.iter().map(|row| short(row.get(column).map_or("", String::as_str)));
        let texts: Vec<String> = core::iter::once(short(name)).chain(texts).collect();
        let width = texts.iter().map(|text| text.width()).max().unwrap_or(0) + 2;
        if width > rest.width && shown > 0 {
            break;
        }
        for (y, text) in texts.iter().enumerate() {
            let style = if y == 0 { gray } else { Style::default() };
            let blanks = " ".repeat(width.saturating_sub(text.width()));
            screen.text(rest.row(y), &format!("{blanks}{text}"), style);
        }
        rest = Area { x: rest.x + width, width: rest.width.saturating_sub(width), ..rest };
        shown += 1;
    }
    shown
}

/// Draws the chunks, each as a block in the colour of its ratio.
fn draw_chunks<S: Source>(view: &mut View<S>, screen: &mut Screen, area: Area) {
    let rows = area.height.saturating_sub(2);
    let Some(map) = view.chunk_map((area.width / 2) as u64, rows as u64) else {
        return screen.paragraph(area, "the chunks of this are not known one by one");
    };
    let columns = usize::try_from(map.columns).unwrap_or(usize::MAX);
    for (n, color) in map.colors.iter().enumerate() {
        let style = Style::back(color.map_or(Color::Damaged, Color::Exact));
        let place = Area { x: area.x + n % columns * 2, width: 2, ..area.row(n / columns) };
        let (text, style) = match map.cursor == Some(n) {
            true => ("[]", Style { fore: Some(Color::Exact(Rgb(255, 255, 255))), ..style }),
            false => ("  ", style),
        };
        screen.text(place, text, style);
    }
    screen.text(area.row(rows), &map.text, Style::default());
    screen.text(area.row(rows + 1), &map.cursor_text, Style::default());
}

fn draw_picture(scene: &Scene, screen: &mut Screen, area: Area) {
    let drawn = scene.cells(area.width, area.height, true);
    for y in 0..drawn.height {
        for (x, cell) in drawn.row(y).enumerate() {
            let (fore, back) = (cell.fore.map(Color::Exact), cell.back.map(Color::Exact));
            let style = Style { fore, back, ..Style::default() };
            let place = Area { x: area.x + x, width: 1, ..area.row(y) };
            screen.text(place, cell.symbol.encode_utf8(&mut [0; 4]), style);
        }
    }
}
