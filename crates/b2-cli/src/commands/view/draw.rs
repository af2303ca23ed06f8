//! The state as a screen full of characters.

use b2_plot::{Rgb, Scene, color};
use b2frame::SChunk;
use crossterm::style::Color;

use super::{
    opened::{Cells, Opened},
    screen::{Area, Screen, Style},
    state::{Focus, Pane, State},
};
use crate::render::{harmless, size};

/// The narrowest column of values, with the space before it.
const MIN_COLUMN: usize = 3;
/// The widest text of a value.
const MAX_TEXT: usize = 40;
/// The narrowest list of members.
const MIN_LIST: usize = 12;
const GRAY: Color = Color::DarkGrey;
const KEYS: &str =
    "Tab list  arrows move  [ ] { } dimensions  v values  i about  c chunks  p plot  q end";

/// Draws everything.
pub(super) fn draw(state: &mut State<'_>, screen: &mut Screen) {
    let all = screen.area();
    screen.line(all.row(0), &head_text(state), Style::REVERSED);
    let last = all.height.saturating_sub(1);
    let body = Area { y: 1, height: all.height.saturating_sub(2), ..all };
    screen.text(all.row(last), KEYS, Style::fore(GRAY));
    if state.members.len() < 2 {
        return draw_member(state, screen, body);
    }
    let labels = state.members.iter();
    let widest = labels.map(|m| m.label.chars().count() + 2 * m.depth).max().unwrap_or(0);
    let width = (widest + 4).min(body.width / 3).max(MIN_LIST).min(body.width);
    draw_list(state, screen, Area { width, ..body });
    draw_member(state, screen, Area { x: width, width: body.width - width, ..body });
}

fn head_text(state: &State<'_>) -> String {
    let mut text = format!(" {}", state.title);
    if let Ok(opened) = &state.opened {
        let lens: Vec<String> = opened.shape().iter().map(|len| size::count(*len)).collect();
        let dtype = opened.about.iter().find(|(name, _)| name == "type");
        text += &match (dtype, &lens[..]) {
            (Some((_, dtype)), _) => format!("   {} of {dtype}", lens.join(" x ")),
            (None, [rows, columns]) => format!("   {rows} rows, {columns} columns"),
            (None, _) => String::new(),
        };
    }
    text
}

/// Draws the border of a part, in colour where the arrows move in it, and returns the inner part.
fn border(screen: &mut Screen, area: Area, title: &str, is_focus: bool) -> Area {
    let style = if is_focus { Style::fore(Color::DarkCyan) } else { Style::default() };
    screen.border(area, title, style)
}

fn draw_list(state: &State<'_>, screen: &mut Screen, area: Area) {
    let inner = border(screen, area, " members ", state.focus == Focus::List);
    let first = (state.selected + 1).saturating_sub(inner.height);
    let members = state.members.iter().enumerate().skip(first).take(inner.height);
    for (y, (n, member)) in members.enumerate() {
        let text = format!("{}{}", "  ".repeat(member.depth), harmless(&member.label));
        let style = if n == state.selected { Style::REVERSED } else { Style::default() };
        screen.line(inner.row(y), &text, style);
    }
}

fn draw_member(state: &mut State<'_>, screen: &mut Screen, area: Area) {
    let name = match state.pane {
        Pane::Values => position_text(state),
        Pane::About => " about ".to_owned(),
        Pane::Chunks => " chunks: bright ones compress well ".to_owned(),
        Pane::Plot => " plot ".to_owned(),
    };
    let inner = border(screen, area, &name, state.focus == Focus::Member);
    if inner.width < MIN_COLUMN || inner.height < 2 {
        return;
    }
    let opened = match &state.opened {
        Ok(opened) => opened,
        Err(error) => return screen.paragraph(inner, error),
    };
    match state.pane {
        Pane::Values => {
            let rows = inner.height.saturating_sub(1) as u64;
            let columns = (inner.width / MIN_COLUMN) as u64;
            match opened.cells(&state.fixed, state.at, rows, columns) {
                Ok(cells) => {
                    let shown = draw_values(&cells, state.at.0, opened, screen, inner);
                    state.page = (rows, shown);
                }
                Err(error) => {
                    screen.paragraph(inner, &harmless(&crate::error::chain(&error)));
                }
            }
        }
        Pane::About => {
            let width =
                opened.about.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
            let lines = opened.about.iter().map(|(name, text)| format!("{name:width$}  {text}"));
            screen.paragraph(inner, &lines.collect::<Vec<_>>().join("\n"));
        }
        Pane::Chunks => match &opened.schunk {
            Some(schunk) => {
                state.chunk_page = draw_chunks(schunk, state.first_chunk, screen, inner);
            }
            None => screen.paragraph(inner, "only frames show their chunks"),
        },
        Pane::Plot => match &state.picture {
            Some(Ok(picture)) => draw_picture(picture, screen, inner),
            Some(Err(error)) => screen.paragraph(inner, error),
            None => {}
        },
    }
}

/// ` [3, 0, 12.., 40..] `: where the screen is in the array.
fn position_text(state: &State<'_>) -> String {
    let Ok(opened) = &state.opened else { return String::new() };
    let mut parts: Vec<String> = state
        .fixed
        .iter()
        .enumerate()
        .map(|(dim, at)| if dim == state.dim { format!("<{at}>") } else { at.to_string() })
        .collect();
    match opened.shape().len() {
        0 => {}
        1 => parts.push(format!("{}..", state.at.0)),
        _ => parts.extend([format!("{}..", state.at.0), format!("{}..", state.at.1)]),
    }
    format!(" [{}] ", parts.join(", "))
}

/// Draws as many columns as there is room for, and says how many.
fn draw_values(
    cells: &Cells,
    first_row: u64,
    opened: &Opened,
    screen: &mut Screen,
    area: Area,
) -> u64 {
    let short = |text: &str| -> String {
        match text.chars().count() > MAX_TEXT {
            true => text.chars().take(MAX_TEXT - 1).chain(['…']).collect(),
            false => text.to_owned(),
        }
    };
    let is_scalar = opened.shape().is_empty();
    let labels: Vec<String> = (first_row..)
        .take(cells.rows.len())
        .map(|row| if is_scalar { String::new() } else { row.to_string() })
        .collect();
    let label_width = labels.iter().map(String::len).max().unwrap_or(0);
    let gray = Style::fore(GRAY);
    for (y, label) in labels.iter().enumerate() {
        screen.text(area.row(y + 1), &format!("{label:>label_width$}"), gray);
    }
    let mut rest =
        Area { x: area.x + label_width, width: area.width.saturating_sub(label_width), ..area };
    let mut shown = 0;
    for (column, name) in cells.names.iter().enumerate() {
        let texts = cells.rows.iter().map(|row| short(row.get(column).map_or("", String::as_str)));
        let texts: Vec<String> = core::iter::once(short(name)).chain(texts).collect();
        let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0) + 2;
        if width > rest.width && shown > 0 {
            break;
        }
        for (y, text) in texts.iter().enumerate() {
            let style = if y == 0 { gray } else { Style::default() };
            screen.text(rest.row(y), &format!("{text:>width$}"), style);
        }
        rest = Area { x: rest.x + width, width: rest.width.saturating_sub(width), ..rest };
        shown += 1;
    }
    shown
}

/// Draws the chunks from `first` on, a block each whose colour is its ratio; says how many columns
/// and rows there are.
fn draw_chunks(schunk: &SChunk, first: u64, screen: &mut Screen, area: Area) -> (u64, u64) {
    let rows = area.height.saturating_sub(1);
    // Chunks of an array lie as in its grid, as far as that is narrow enough.
    let grid = schunk.nd_meta().ok().flatten().map(|meta| meta.grid());
    let across = grid.filter(|grid| grid.len() > 1).and_then(|grid| grid.last().copied());
    let columns = (area.width / 2) as u64;
    let columns = across.filter(|across| (1..columns).contains(across)).unwrap_or(columns);
    let mut chunk = first;
    for row in 0..rows {
        for x in (area.x..).step_by(2).take(usize::try_from(columns).unwrap_or(usize::MAX)) {
            if chunk >= schunk.nchunks() {
                break;
            }
            let cell = match schunk.chunk_info(chunk) {
                Ok(info) => Style::back(ratio_color(info.nbytes, info.cbytes)),
                Err(_) => Style::back(Color::DarkRed),
            };
            screen.text(Area { x, width: 2, ..area.row(row) }, "  ", cell);
            chunk += 1;
        }
    }
    let total = size::count(schunk.nchunks());
    let text = match schunk.nchunks() {
        0 => "no chunks".to_owned(),
        _ => format!("chunks {first} to {} of {total}", chunk.saturating_sub(1)),
    };
    screen.text(area.row(rows), &text, Style::default());
    (columns.max(1), (rows as u64).max(1))
}

/// Dark for what is stored as it is, bright for a tenth of it or less.
#[allow(clippy::cast_precision_loss, reason = "a colour")]
fn ratio_color(nbytes: u64, cbytes: u64) -> Color {
    let ratio = nbytes as f64 / cbytes.max(1) as f64;
    color_of(color::map(ratio.max(1.0).log10()))
}

fn color_of(Rgb(r, g, b): Rgb) -> Color {
    Color::Rgb { r, g, b }
}

fn draw_picture(scene: &Scene, screen: &mut Screen, area: Area) {
    let drawn = scene.cells(area.width, area.height, true);
    for y in 0..drawn.height {
        for (x, cell) in drawn.row(y).enumerate() {
            let (fore, back) = (cell.fore.map(color_of), cell.back.map(color_of));
            let style = Style { fore, back, ..Style::default() };
            let place = Area { x: area.x + x, width: 1, ..area.row(y) };
            screen.text(place, cell.symbol.encode_utf8(&mut [0; 4]), style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_testdata::fixture::path;
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    use crate::{
        args::{GeneralArgs, view::ViewArgs},
        commands::view::state::Effect,
        context::Context,
        inputs::origin::Origin,
        output::unfinished::Unfinished,
    };

    /// The screens after each group of keys.
    fn screens(name: &str, keys: &[&[KeyCode]]) -> Vec<String> {
        let general = GeneralArgs::default();
        let console = crate::console::Console::new("b2", &general);
        let cx = Context::new(console, &general, Unfinished::default()).silent();
        let size = crate::args::view::Screen((100, 24));
        let args = ViewArgs { file: path(name), picture: None, keys: vec![], size };
        let mut state = State::new(&cx, &Origin::from_word(&args.file)).unwrap();
        let mut shown = vec![];
        for keys in keys {
            for key in *keys {
                let effect = state.press(KeyEvent::new(*key, KeyModifiers::NONE));
                assert_eq!(effect, Effect::GoOn);
            }
            let mut screen = Screen::new((100, 24));
            draw(&mut state, &mut screen);
            shown.push(screen.to_string());
        }
        let end = state.press(KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE));
        assert_eq!(end, Effect::End);
        shown
    }

    #[test]
    fn an_array_is_moved_through() {
        let name = "frames/generated/array-2d.b2nd";
        let down = [KeyCode::Down, KeyCode::Down, KeyCode::Right];
        let screens = screens(name, &[&[], &down, &[KeyCode::Home], &[KeyCode::End]]);
        assert!(screens[0].contains("[0.., 0..]"), "{}", screens[0]);
        assert!(screens[1].contains("[2.., 1..]"), "{}", screens[1]);
        assert_eq!(screens[2], screens[0]);
        assert_ne!(screens[3], screens[0]);
    }

    #[test]
    fn every_pane_shows_what_it_is_called() {
        let name = "frames/generated/array-2d.b2nd";
        let key = |c| [KeyCode::Char(c)];
        let screens = screens(name, &[&key('i'), &key('c'), &key('p'), &key('v')]);
        assert!(screens[0].contains("pipeline"), "{}", screens[0]);
        assert!(screens[1].contains("chunks 0 to"), "{}", screens[1]);
        assert!(screens[2].contains("plot"), "{}", screens[2]);
        assert!(screens[3].contains("[0.., 0..]"), "{}", screens[3]);
    }

    #[test]
    fn a_store_is_a_tree_of_members() {
        let keys = [KeyCode::Down];
        let screens = screens("stores/tree-with-table.b2z", &[&[], &keys, &keys, &keys]);
        for name in ["arr", "tab", "id", "members"] {
            assert!(screens[0].contains(name), "{name}\n{}", screens[0]);
        }
        // A group has no values, and says so.
        assert!(screens.iter().any(|screen| screen.contains("this is a group")));
        assert!(screens.iter().any(|screen| screen.contains("5 of <i8")), "{}", screens[3]);
    }

    #[test]
    fn columns_that_cannot_be_shown_do_not_stop_the_others() {
        let down = [KeyCode::Down];
        let all: Vec<&[KeyCode]> = (0..17).map(|_| &down[..]).collect();
        let screens = screens("stores/table-basic.b2z", &all);
        // Rows, `id`, `f`.
        assert!(screens[1].contains("f4") || screens[1].contains("float"), "{}", screens[1]);
        assert_eq!(screens.len(), 17);
    }

    #[test]
    fn other_formats_are_browsed_too() {
        for (name, text) in [
            ("bcolz/ct_2d_column", "members"),
            ("bcolz/ca_3d", "[<0>, 0.., 0..]"),
            ("bloscpack/real_np_c16.blp", "<c16"),
            ("frames/tiny.b2frame", "[0..]"),
        ] {
            let screens = screens(name, &[&[]]);
            assert!(screens[0].contains(text), "{name}\n{}", screens[0]);
        }
    }
}
