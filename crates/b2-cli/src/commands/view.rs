//! `b2 view`: a browser in the terminal.
//!
//! ```text
//! keys --> View   what is looked at: member, pane, position (the crate b2-view)
//!            |    source: the input, of which the items on the screen are read
//!          draw   View to a Screen, whose lines go to the terminal where they changed
//! ```

mod draw;
mod keys;
mod picture;
mod screen;
mod source;

use std::io::{self, IsTerminal as _};

use b2_view::View;
use crossterm::{
    cursor::{Hide, Show},
    event::{self, Event, KeyEventKind},
    execute,
    terminal::{self, EnterAlternateScreen, LeaveAlternateScreen},
};

use crate::{
    args::ViewArgs,
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    inputs::Origin,
};

use keys::{Pressed, pressed};
use screen::Screen;
use source::Input;

/// Shows the input until the user ends.
pub(crate) fn run(args: &ViewArgs, cx: &Context) -> Code {
    let origin = Origin::from_word(&args.file);
    cx.run_on_inputs(vec![Ok(origin)], |origin| view(args, cx, origin))
}

fn view(args: &ViewArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let silent = cx.silent();
    if let Some(path) = &args.picture {
        let mut view = View::new(Input::open(&silent, origin)?)?;
        return picture::write(&mut view, &args.keys, args.size.0, path);
    }
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(message::NEEDS_TERMINAL.error());
    }
    let mut view = View::new(Input::open(&silent, origin)?)?;
    let failed = Error::io(Doing::Stdout);
    let _screen = AlternateScreen::enter(cx).map_err(failed)?;
    let mut shown = None;
    loop {
        let mut screen = Screen::new(terminal::size().map_err(Error::io(Doing::Stdout))?);
        draw::draw(&mut view, &mut screen);
        let written = screen.write(shown.as_ref(), &mut io::stdout().lock());
        written.map_err(Error::io(Doing::Stdout))?;
        shown = Some(screen);
        let event = event::read().map_err(Error::io(Doing::Read))?;
        if let Event::Key(key) = event
            && key.kind != KeyEventKind::Release
        {
            match pressed(key) {
                Pressed::Command(command) => view.execute(command),
                Pressed::End => return Ok(()),
                Pressed::Nothing => {}
            }
        }
    }
}

/// The terminal as it was comes back when this is dropped, also by a panic; a signal that ends the
/// program restores it too.
struct AlternateScreen;

impl AlternateScreen {
    fn enter(cx: &Context) -> io::Result<Self> {
        cx.unfinished.at_exit(restore);
        terminal::enable_raw_mode()?;
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
    // Nothing is left to do about a terminal that does not take it.
    let _raw = terminal::disable_raw_mode();
    let _screen = execute!(io::stdout(), LeaveAlternateScreen, Show);
}
