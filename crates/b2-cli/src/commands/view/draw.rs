//! The state as a screen full of characters.

use b2_plot::{Rgb, Scene};
use b2_view::{Focus, Pane, Values, View};
use crossterm::style::Color;

use super::{
    screen::{Area, Screen, Style},
    source::Input,
};
use crate::render::harmless;

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
pub(super) fn draw(view: &mut View<Input<'_>>, screen: &mut Screen) {
    let all = screen.area();
    screen.line(all.row(0), &format!(" {}", view.heading()), Style::REVERSED);
    let last = all.height.saturating_sub(1);
    let body = Area { y: 1, height: all.height.saturating_sub(2), ..all };
    screen.text(all.row(last), KEYS, Style::fore(GRAY));
    if view.members().len() < 2 {
        return draw_member(view, screen, body);
    }
    let labels = view.members().iter();
    let widest = labels.map(|m| m.label.chars().count() + 2 * m.depth).max().unwrap_or(0);
    let width = (widest + 4).min(body.width / 3).max(MIN_LIST).min(body.width);
    draw_list(view, screen, Area { width, ..body });
    draw_member(view, screen, Area { x: width, width: body.width - width, ..body });
}

/// Draws the border of a part, in colour where the arrows move in it, and returns the inner part.
fn border(screen: &mut Screen, area: Area, title: &str, is_focus: bool) -> Area {
    let style = if is_focus { Style::fore(Color::DarkCyan) } else { Style::default() };
    screen.border(area, title, style)
}

fn draw_list(view: &View<Input<'_>>, screen: &mut Screen, area: Area) {
    let inner = border(screen, area, " members ", view.focus() == Focus::List);
    let first = (view.selected() + 1).saturating_sub(inner.height);
    let members = view.members().iter().enumerate().skip(first).take(inner.height);
    for (y, (n, member)) in members.enumerate() {
        let text = format!("{}{}", "  ".repeat(member.depth), harmless(&member.label));
        let style = if n == view.selected() { Style::REVERSED } else { Style::default() };
        screen.line(inner.row(y), &text, style);
    }
}

fn draw_member(view: &mut View<Input<'_>>, screen: &mut Screen, area: Area) {
    let name = match view.pane() {
        Pane::Values => view.position().map(|position| format!(" {position} ")).unwrap_or_default(),
        Pane::About => " about ".to_owned(),
        Pane::Chunks => " chunks: bright ones compress well ".to_owned(),
        Pane::Plot => " plot ".to_owned(),
    };
    let inner = border(screen, area, &name, view.focus() == Focus::Member);
    if inner.width < MIN_COLUMN || inner.height < 2 {
        return;
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
    }
}

/// Draws as many columns as there is room for, and says how many. Rows have numbers from
/// `first_row` on.
fn draw_values(values: &Values, first_row: Option<u64>, screen: &mut Screen, area: Area) -> u64 {
    let short = |text: &str| -> String {
        match text.chars().count() > MAX_TEXT {
            true => text.chars().take(MAX_TEXT - 1).chain(['…']).collect(),
            false => text.to_owned(),
        }
    };
    let label = |n: usize| first_row.map_or(String::new(), |first| (first + n as u64).to_string());
    let labels: Vec<String> = (0..values.rows.len()).map(label).collect();
    let label_width = labels.iter().map(String::len).max().unwrap_or(0);
    let gray = Style::fore(GRAY);
    for (y, label) in labels.iter().enumerate() {
        screen.text(area.row(y + 1), &format!("{label:>label_width$}"), gray);
    }
    let mut rest =
        Area { x: area.x + label_width, width: area.width.saturating_sub(label_width), ..area };
    let mut shown = 0;
    for (column, name) in values.names.iter().enumerate() {
        let texts = values.rows.iter().map(|row| short(row.get(column).map_or("", String::as_str)));
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

/// Draws the chunks, a block each whose colour is its ratio.
fn draw_chunks(view: &mut View<Input<'_>>, screen: &mut Screen, area: Area) {
    let rows = area.height.saturating_sub(1);
    let Some(map) = view.chunk_map((area.width / 2) as u64, rows as u64) else {
        return screen.paragraph(area, "only frames show their chunks");
    };
    let columns = usize::try_from(map.columns).unwrap_or(usize::MAX);
    for (y, row) in map.colors.chunks(columns.max(1)).enumerate() {
        for (x, color) in (area.x..).step_by(2).zip(row) {
            let style = Style::back(color.map_or(Color::DarkRed, color_of));
            screen.text(Area { x, width: 2, ..area.row(y) }, "  ", style);
        }
    }
    screen.text(area.row(rows), &map.text, Style::default());
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
        commands::view::keys::{Pressed, pressed},
        context::Context,
        inputs::origin::Origin,
        output::Unfinished,
    };

    /// The screens after each group of keys.
    fn screens(name: &str, keys: &[&[KeyCode]]) -> Vec<String> {
        let general = GeneralArgs::default();
        let console = crate::console::Console::new("b2", &general);
        let cx = Context::new(console, &general, Unfinished::default()).silent();
        let size = crate::args::view::Screen((100, 24));
        let args = ViewArgs { file: path(name), picture: None, keys: vec![], size };
        let input = Input::open(&cx, &Origin::from_word(&args.file)).unwrap();
        let mut view = View::new(input).unwrap();
        let mut shown = vec![];
        for keys in keys {
            for key in *keys {
                let pressed = pressed(KeyEvent::new(*key, KeyModifiers::NONE));
                let Pressed::Command(command) = pressed else { panic!("{key}") };
                view.execute(command);
            }
            let mut screen = Screen::new((100, 24));
            draw(&mut view, &mut screen);
            shown.push(screen.to_string());
        }
        let end = pressed(KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE));
        assert_eq!(end, Pressed::End);
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
