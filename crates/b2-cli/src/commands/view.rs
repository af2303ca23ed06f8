//! `b2 view`: a browser in the terminal.
//!
//! ```text
//! keys --> State  what is looked at: member, pane, position
//!            |    Opened: reads the items on the screen, and nothing else
//!          draw   State to a frame of ratatui
//! ```

mod draw;
mod opened;
mod picture;
mod state;

use std::io::{self, IsTerminal as _};

use ratatui::{
    Terminal,
    backend::CrosstermBackend,
    crossterm::{
        cursor::Show,
        event::{self, Event, KeyEventKind},
        execute,
        terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
    },
};

use crate::{
    args::ViewArgs,
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    inputs::Origin,
};

use state::{Effect, State};

/// Shows the input until the user ends.
pub(crate) fn run(args: &ViewArgs, cx: &Context) -> Code {
    let origin = Origin::from_word(&args.file);
    cx.run_on_inputs(vec![Ok(origin)], |origin| view(args, cx, origin))
}

fn view(args: &ViewArgs, cx: &Context, origin: &Origin) -> Result<()> {
    if let Some(path) = &args.picture {
        let silent = cx.silent();
        let mut state = State::new(&silent, origin)?;
        return picture::write(&mut state, &args.keys, args.size.0, path);
    }
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(message::NEEDS_TERMINAL.error());
    }
    let silent = cx.silent();
    let mut state = State::new(&silent, origin)?;
    let failed = Error::io(Doing::Stdout);
    let _screen = AlternateScreen::enter(cx).map_err(failed)?;
    let mut terminal =
        Terminal::new(CrosstermBackend::new(io::stdout())).map_err(Error::io(Doing::Stdout))?;
    loop {
        terminal.draw(|frame| draw::draw(&mut state, frame)).map_err(Error::io(Doing::Stdout))?;
        let event = event::read().map_err(Error::io(Doing::Read))?;
        if let Event::Key(key) = event
            && key.kind != KeyEventKind::Release
            && state.press(key) == Effect::End
        {
            return Ok(());
        }
    }
}

/// The terminal as it was comes back when this is dropped, also by a panic; a signal that ends the
/// program restores it too.
struct AlternateScreen;

impl AlternateScreen {
    fn enter(cx: &Context) -> io::Result<Self> {
        cx.unfinished.at_exit(restore);
        enable_raw_mode()?;
        let screen = Self;
        execute!(io::stdout(), EnterAlternateScreen)?;
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
    let _raw = disable_raw_mode();
    let _screen = execute!(io::stdout(), LeaveAlternateScreen, Show);
}
