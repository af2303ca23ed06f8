//! The state as a screen full of characters.

use b2frame::SChunk;
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::{Block, List, ListItem, ListState, Paragraph},
};

use super::{
    opened::{Cells, Opened},
    state::{Focus, Pane, State},
};
use crate::{
    plot::{
        color::{self, Rgb},
        draw::Picture,
        text,
    },
    render::{harmless, size},
};

/// The narrowest column of values, with the space before it.
const MIN_COLUMN: u16 = 3;
/// The widest text of a value.
const MAX_TEXT: usize = 40;

/// Draws everything.
pub(super) fn draw(state: &mut State<'_>, frame: &mut Frame<'_>) {
    let [head, body, keys] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(3), Constraint::Length(1)])
            .areas(frame.area());
    frame.render_widget(Line::from(head_text(state)).style(Modifier::REVERSED), head);
    frame.render_widget(
        Line::from(
            "Tab list  arrows move  [ ] { } dimensions  v values  i about  c chunks  p plot  q end",
        )
        .style(Style::new().fg(Color::DarkGray)),
        keys,
    );
    let body = match state.members.len() {
        0 | 1 => body,
        _ => {
            let labels = state.members.iter();
            let widest = labels.map(|m| m.label.chars().count() + 2 * m.depth).max().unwrap_or(0);
            let width = u16::try_from(widest).unwrap_or(u16::MAX).saturating_add(4);
            let [list, member] = Layout::horizontal([
                Constraint::Length(width.clamp(12, body.width / 3)),
                Constraint::Min(10),
            ])
            .areas(body);
            draw_list(state, frame, list);
            member
        }
    };
    draw_member(state, frame, body);
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

fn border(title: String, is_focus: bool) -> Block<'static> {
    let style = if is_focus { Style::new().fg(Color::Cyan) } else { Style::new() };
    Block::bordered().title(title).border_style(style)
}

fn draw_list(state: &State<'_>, frame: &mut Frame<'_>, area: Rect) {
    let item = |member: &super::opened::Member| {
        ListItem::new(format!("{}{}", "  ".repeat(member.depth), harmless(&member.label)))
    };
    let list = List::new(state.members.iter().map(item))
        .block(border(" members ".to_owned(), state.focus == Focus::List))
        .highlight_style(Modifier::REVERSED);
    let mut selected = ListState::default().with_selected(Some(state.selected));
    frame.render_stateful_widget(list, area, &mut selected);
}

fn draw_member(state: &mut State<'_>, frame: &mut Frame<'_>, area: Rect) {
    let name = match state.pane {
        Pane::Values => position_text(state),
        Pane::About => " about ".to_owned(),
        Pane::Chunks => " chunks: bright ones compress well ".to_owned(),
        Pane::Plot => " plot ".to_owned(),
    };
    let block = border(name, state.focus == Focus::Member);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    if inner.width < MIN_COLUMN || inner.height < 2 {
        return;
    }
    let opened = match &state.opened {
        Ok(opened) => opened,
        Err(error) => return frame.render_widget(wrapped(error), inner),
    };
    match state.pane {
        Pane::Values => {
            let rows = u64::from(inner.height.saturating_sub(1));
            let columns = u64::from(inner.width / MIN_COLUMN);
            match opened.cells(&state.fixed, state.at, rows, columns) {
                Ok(cells) => {
                    let shown = draw_values(&cells, state.at.0, opened, frame, inner);
                    state.page = (rows, shown);
                }
                Err(error) => {
                    let text = harmless(&crate::error::chain(&error));
                    frame.render_widget(wrapped(&text), inner);
                }
            }
        }
        Pane::About => {
            let width =
                opened.about.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
            let lines = opened.about.iter().map(|(name, text)| format!("{name:width$}  {text}"));
            frame.render_widget(wrapped(&lines.collect::<Vec<_>>().join("\n")), inner);
        }
        Pane::Chunks => match &opened.schunk {
            Some(schunk) => {
                state.chunk_page = draw_chunks(schunk, state.first_chunk, frame, inner);
            }
            None => frame.render_widget(wrapped("only frames show their chunks"), inner),
        },
        Pane::Plot => match &state.picture {
            Some(Ok(picture)) => draw_picture(picture, frame, inner),
            Some(Err(error)) => frame.render_widget(wrapped(error), inner),
            None => {}
        },
    }
}

fn wrapped(text: &str) -> Paragraph<'_> {
    Paragraph::new(text).wrap(ratatui::widgets::Wrap { trim: false })
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
    frame: &mut Frame<'_>,
    area: Rect,
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
    let mut lines: Vec<Vec<Span<'_>>> = vec![vec![Span::raw(" ".repeat(label_width))]];
    let gray = Style::new().fg(Color::DarkGray);
    lines.extend(
        labels.iter().map(|label| vec![Span::styled(format!("{label:>label_width$}"), gray)]),
    );
    let mut room = usize::from(area.width).saturating_sub(label_width);
    let mut shown = 0;
    for (column, name) in cells.names.iter().enumerate() {
        let texts: Vec<String> = cells
            .rows
            .iter()
            .map(|row| short(row.get(column).map_or("", String::as_str)))
            .collect();
        let name = short(name);
        let widest = texts.iter().chain([&name]).map(|text| text.chars().count()).max();
        let width = widest.unwrap_or(0) + 2;
        if width > room && shown > 0 {
            break;
        }
        room = room.saturating_sub(width);
        shown += 1;
        lines[0].push(Span::styled(format!("{name:>width$}"), gray));
        for (line, text) in lines.iter_mut().skip(1).zip(texts) {
            line.push(Span::raw(format!("{text:>width$}")));
        }
    }
    let lines: Vec<Line<'_>> = lines.into_iter().map(Line::from).collect();
    frame.render_widget(Paragraph::new(lines), area);
    shown
}

/// Draws the chunks from `first` on, a block each whose colour is its ratio; says how many columns
/// and rows there are.
fn draw_chunks(schunk: &SChunk, first: u64, frame: &mut Frame<'_>, area: Rect) -> (u64, u64) {
    let rows = u64::from(area.height.saturating_sub(1));
    // Chunks of an array lie as in its grid, as far as that is narrow enough.
    let grid = schunk.nd_meta().ok().flatten().map(|meta| meta.grid());
    let across = grid.filter(|grid| grid.len() > 1).and_then(|grid| grid.last().copied());
    let columns = u64::from(area.width / 2);
    let columns = across.filter(|across| (1..columns).contains(across)).unwrap_or(columns);
    let mut chunk = first;
    for row in 0..rows {
        for column in 0..columns {
            if chunk >= schunk.nchunks() {
                break;
            }
            let cell = match schunk.chunk_info(chunk) {
                Ok(info) => Style::new().bg(ratio_color(info.nbytes, info.cbytes)),
                Err(_) => Style::new().bg(Color::Red),
            };
            let x = area.x.saturating_add(u16::try_from(2 * column).unwrap_or(0));
            let y = area.y.saturating_add(u16::try_from(row).unwrap_or(0));
            frame.buffer_mut().set_string(x, y, "  ", cell);
            chunk += 1;
        }
    }
    let total = size::count(schunk.nchunks());
    let text = match schunk.nchunks() {
        0 => "no chunks".to_owned(),
        _ => format!("chunks {first} to {} of {total}", chunk.saturating_sub(1)),
    };
    let below = area.y.saturating_add(area.height.saturating_sub(1));
    frame.buffer_mut().set_string(area.x, below, text, Style::new());
    (columns.max(1), rows.max(1))
}

/// Dark for what is stored as it is, bright for a tenth of it or less.
#[allow(clippy::cast_precision_loss, reason = "a colour")]
fn ratio_color(nbytes: u64, cbytes: u64) -> Color {
    let ratio = nbytes as f64 / cbytes.max(1) as f64;
    color_of(color::map(ratio.max(1.0).log10()))
}

fn color_of(Rgb(r, g, b): Rgb) -> Color {
    Color::Rgb(r, g, b)
}

fn draw_picture(picture: &Picture, frame: &mut Frame<'_>, area: Rect) {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let screen = text::draw(picture, width, height, true);
    for (n, cell) in screen.cells.iter().enumerate() {
        let mut style = Style::new();
        style.fg = cell.fore.map(color_of);
        style.bg = cell.back.map(color_of);
        let (row, column) = (n / screen.width.max(1), n % screen.width.max(1));
        let x = area.x.saturating_add(u16::try_from(column).unwrap_or(0));
        let y = area.y.saturating_add(u16::try_from(row).unwrap_or(0));
        frame.buffer_mut().set_string(x, y, cell.symbol.to_string(), style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_testdata::fixture::path;
    use ratatui::{
        Terminal,
        backend::TestBackend,
        crossterm::event::{KeyCode, KeyEvent, KeyModifiers},
    };

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
        let mut terminal = Terminal::new(TestBackend::new(100, 24)).unwrap();
        let mut shown = vec![];
        for keys in keys {
            for key in *keys {
                let effect = state.press(KeyEvent::new(*key, KeyModifiers::NONE));
                assert_eq!(effect, Effect::GoOn);
            }
            terminal.draw(|frame| draw(&mut state, frame)).unwrap();
            shown.push(terminal.backend().to_string());
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
