//! `b2 view`: a browser in the terminal.
//!
//! ```text
//! keys --> View   what is looked at: member, pane, position (the crate b2-view)
//!            |    source: the input, of which the items on the screen are read
//!        screen   drawn by the view; its lines go to the terminal where they changed
//! ```

mod picture;
mod source;
mod web;

use std::io::{self, IsTerminal as _, Write as _};

use b2_view::{
    View,
    screen::Screen,
    terminal::{self, KEYS, Pressed, pressed},
};
use crossterm::{
    cursor::{Hide, Show},
    event::{self, Event, KeyEventKind},
    execute,
    terminal::{
        EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
    },
};

use crate::{
    args::{OutputArgs, ViewArgs},
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    inputs::Origin,
    output::{Naming, copy},
};

use source::Input;

/// Shows the input until the user ends.
pub(crate) fn run(args: &ViewArgs, cx: &Context) -> Code {
    if args.web {
        return web::run(args, cx);
    }
    let [file] = &*args.files else { return cx.refuse(&message::ONE_FILE.error()) };
    let inputs = cx.input(file);
    let Some(picture) = &args.picture else {
        return cx.run_on_inputs(inputs, |origin| view(cx, origin));
    };
    if !picture.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("png")) {
        return cx.refuse(&message::SCREEN_FORMAT.error());
    }
    let outputs =
        OutputArgs { output: Some(picture.clone()), force: args.force, ..OutputArgs::default() };
    cx.run_into_targets(inputs, &outputs, |origin, targets| {
        let target = targets.next(origin, Naming::Keep)?;
        let silent = cx.silent();
        let mut view = View::new(Input::open(&silent, origin)?)?;
        let png = picture::of_screen(&mut view, &args.keys, args.size.0)?;
        copy::write(cx, &outputs, &target, |sink| sink.write(&png))
    })
}

fn view(cx: &Context, origin: &Origin) -> Result<()> {
    let silent = cx.silent();
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(message::NEEDS_TERMINAL.error());
    }
    let mut view = View::new(Input::open(&silent, origin)?)?;
    let failed = Error::io(Doing::Stdout);
    let _screen = AlternateScreen::enter(cx).map_err(failed)?;
    let mut shown: Option<Screen> = None;
    loop {
        let screen = view.draw_screen(size().map_err(Error::io(Doing::Stdout))?, KEYS);
        let (text, mut out) = (terminal::update_of(&screen, shown.as_ref()), io::stdout().lock());
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        written.map_err(Error::io(Doing::Stdout))?;
        shown = Some(screen);
        let event = event::read().map_err(Error::io(Doing::Read))?;
        if let Event::Key(key) = event
            && key.kind != KeyEventKind::Release
        {
            match pressed(key, view.question().is_some()) {
                Pressed::Command(command) => view.execute(command),
                Pressed::End => return Ok(()),
                Pressed::Nothing => {}
            }
        }
    }
}

/// The alternate screen. Dropping it restores the terminal, and so does a signal or a panic.
struct AlternateScreen;

impl AlternateScreen {
    fn enter(cx: &Context) -> io::Result<Self> {
        cx.unfinished.at_exit(restore);
        enable_raw_mode()?;
        let screen = Self;
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(screen)
    }
}

impl Drop for AlternateScreen {
    fn drop(&mut self) {
        restore();
    }
}

fn restore() {
    // An error on a terminal that is gone changes nothing.
    let _raw = disable_raw_mode();
    let _screen = execute!(io::stdout(), LeaveAlternateScreen, Show);
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_testdata::fixture::path;
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    use crate::{args::GeneralArgs, context::Context, inputs::origin::Origin, output::Unfinished};

    /// The screens after each group of keys.
    fn screens(name: &str, keys: &[&[KeyCode]]) -> Vec<String> {
        let general = GeneralArgs::default();
        let console = crate::console::Console::new("b2", &general);
        let cx = Context::new(console, &general, Unfinished::default()).silent();
        let input = Input::open(&cx, &Origin::from_word(&path(name))).unwrap();
        let mut view = View::new(input).unwrap();
        let mut shown = vec![];
        for keys in keys {
            for key in *keys {
                let key = KeyEvent::new(*key, KeyModifiers::NONE);
                let pressed = pressed(key, view.question().is_some());
                let Pressed::Command(command) = pressed else { panic!("{key:?}") };
                view.execute(command);
            }
            shown.push(view.draw_screen((100, 24), KEYS).to_string());
        }
        let end = pressed(KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE), false);
        assert_eq!(end, Pressed::End);
        shown
    }

    #[test]
    fn keys_move_through_an_array() {
        let name = "frames/generated/array-2d.b2nd";
        let down = [KeyCode::Down, KeyCode::Down, KeyCode::Right];
        let screens = screens(name, &[&[], &down, &[KeyCode::Home], &[KeyCode::End]]);
        assert!(screens[0].contains("[0.., 0..]"), "{}", screens[0]);
        assert!(screens[1].contains("[2.., 1..]"), "{}", screens[1]);
        assert_eq!(screens[2], screens[0]);
        assert_ne!(screens[3], screens[0]);
    }

    #[test]
    fn every_pane_shows_its_content() {
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
    fn fields_are_members_and_every_format_with_chunks_has_a_map_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let csv = folder.path().join("t.csv");
        std::fs::write(&csv, "id,word\n1,one\n2,two\n").unwrap();
        let down = [KeyCode::Down];
        let shown = screens(csv.to_str().unwrap(), &[&[], &down, &down]);
        for name in ["rows", "id", "word"] {
            assert!(shown[0].contains(name), "{name}\n{}", shown[0]);
        }
        assert!(shown[1].contains("2 of <i8"), "{}", shown[1]);
        assert!(shown[2].contains("two") && !shown[2].contains("[0.., 1..]"), "{}", shown[2]);
        let column = [KeyCode::Down, KeyCode::Char('c')];
        for (name, keys) in [
            ("bcolz/ca_3d", &column[1..]),
            ("bcolz/ct_2d_column", &column[..]),
            ("bloscpack/real_np_c16.blp", &column[1..]),
        ] {
            let shown = screens(name, &[keys]);
            assert!(shown[0].contains("chunks 0 to"), "{name}\n{}", shown[0]);
        }
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
