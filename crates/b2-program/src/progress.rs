//! Progress on standard error: bytes done of all bytes. It disappears when the work ends.
//!
//! Nothing is drawn in the first moments, so that quick jobs do not flicker. Later a bar is drawn
//! if standard error is a terminal, or with `--progress always`. `--progress json` writes lines for
//! programs.

use core::{
    fmt,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use std::{
    io::{self, Write},
    sync::Mutex,
    time::Instant,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use serde::Serialize;

use crate::{
    Console, Program, ProgressWhen,
    escape::{harmless, json_text},
};

/// Time before anything is drawn.
const PATIENCE: Duration = Duration::from_millis(300);

/// Time between two lines for a program.
const PACE: Duration = Duration::from_millis(100);

/// Whether a bar is on the terminal.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// Removes the bar when a signal ends the program.
pub(crate) fn clear() {
    if IS_SHOWN.load(Ordering::Relaxed) {
        let _unseen = io::stderr().write_all(b"\r\x1b[2K");
    }
}

/// Narrower terminals have no room for a bar (columns).
const NARROW: usize = 60;

/// A bar, lines, or nothing.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    waiting: Mutex<Option<Waiting>>,
    lines: Option<Lines>,
}

#[derive(Debug)]
struct Waiting {
    since: Instant,
    patience: Duration,
    always: bool,
    /// The layout of the bar.
    template: &'static str,
}

/// Lines for a program: one now and then, and one at the end.
#[derive(Debug)]
struct Lines {
    name: String,
    total: Option<u64>,
    /// When the last one was written.
    last: Mutex<Instant>,
}

/// One such line.
#[derive(Serialize)]
#[serde(tag = "schema", rename = "b2.progress/1")]
struct Line<'a> {
    file: &'a str,
    done: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
}

impl Progress {
    /// Progress of `total` bytes, or of an unknown number of them.
    pub fn new(console: &Console<impl Program>, name: &str, total: Option<u64>) -> Self {
        let wish = console.progress();
        let bar = match total {
            Some(total) => ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden()),
            None => ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
        };
        bar.set_message(harmless(name));
        let template = || match total {
            _ if console.error_width().is_some_and(|width| width < NARROW) => SHORT,
            Some(_) => KNOWN,
            None => UNKNOWN,
        };
        let since = Instant::now();
        let waiting = |patience, always| Waiting { since, patience, always, template: template() };
        let waiting = match wish {
            ProgressWhen::Always => Some(waiting(Duration::ZERO, true)),
            ProgressWhen::Auto => Some(waiting(PATIENCE, false)),
            ProgressWhen::Never | ProgressWhen::Json => None,
        };
        let lines = (wish == ProgressWhen::Json).then(|| Lines::new(name, total, since));
        Self { bar, waiting: Mutex::new(waiting), lines }
    }

    /// Counts `bytes` more bytes as done.
    pub fn add(&self, bytes: u64) {
        self.wake();
        self.bar.inc(bytes);
        if let Some(lines) = &self.lines {
            lines.now_and_then(self.bar.position());
        }
    }

    /// Counts a piece of `nbytes` bytes, all of which stand for `stored` bytes of the total.
    pub fn add_share(&self, piece: u64, nbytes: u64, stored: u64) {
        let share = u128::from(piece) * u128::from(stored) / u128::from(nbytes.max(1));
        self.add(u64::try_from(share).unwrap_or(u64::MAX));
    }

    /// Wraps `source`; its bytes count when they are read.
    pub fn meter<R: io::Read>(&self, source: R) -> impl io::Read + use<'_, R> {
        Metered { source, progress: self }
    }

    /// Starts to draw after the first moments.
    fn wake(&self) {
        let Ok(mut waiting) = self.waiting.lock() else { return };
        if let Some(over) = waiting.take_if(|waiting| waiting.since.elapsed() >= waiting.patience) {
            IS_SHOWN.store(true, Ordering::Relaxed);
            // Most bars are never drawn, and parsing a template takes longer than reading a small
            // file.
            if let Ok(style) = ProgressStyle::with_template(over.template) {
                self.bar.set_style(style);
            }
            self.bar.set_draw_target(if over.always {
                ProgressDrawTarget::term_like(Box::new(Stderr))
            } else {
                ProgressDrawTarget::stderr()
            });
        }
    }
}

impl Lines {
    fn new(name: &str, total: Option<u64>, since: Instant) -> Self {
        Self { name: name.to_owned(), total, last: Mutex::new(since) }
    }

    fn now_and_then(&self, done: u64) {
        let Ok(mut last) = self.last.lock() else { return };
        if last.elapsed() >= PACE {
            *last = Instant::now();
            self.write(done);
        }
    }

    fn write(&self, done: u64) {
        let line = Line { file: &self.name, done, total: self.total };
        let _unheard = io::stderr().lock().write_all((json_text(&line) + "\n").as_bytes());
    }
}

struct Metered<'a, R> {
    source: R,
    progress: &'a Progress,
}

impl<R: io::Read> io::Read for Metered<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(buf)?;
        self.progress.add(n as u64);
        Ok(n)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(lines) = &self.lines {
            lines.write(self.bar.position());
        }
        self.bar.finish_and_clear();
        IS_SHOWN.store(false, Ordering::Relaxed);
    }
}

const KNOWN: &str =
    "{msg} {wide_bar} {percent:>3}% {binary_bytes:>10} {binary_bytes_per_sec:>12} {eta:>4}";
const SHORT: &str = "{percent:>3}% {binary_bytes:>10}";
const UNKNOWN: &str = "{msg} {spinner} {binary_bytes:>10} {binary_bytes_per_sec:>12}";

/// Standard error, taken for a terminal of 80 columns.
struct Stderr;

impl fmt::Debug for Stderr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stderr")
    }
}

impl TermLike for Stderr {
    fn width(&self) -> u16 {
        80
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        if n == 0 { Ok(()) } else { write!(io::stderr(), "\x1b[{n}A") }
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        if n == 0 { Ok(()) } else { write!(io::stderr(), "\x1b[{n}B") }
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        if n == 0 { Ok(()) } else { write!(io::stderr(), "\x1b[{n}C") }
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        if n == 0 { Ok(()) } else { write!(io::stderr(), "\x1b[{n}D") }
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        writeln!(io::stderr(), "{text}")
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        write!(io::stderr(), "{text}")
    }

    fn clear_line(&self) -> io::Result<()> {
        write!(io::stderr(), "\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        io::stderr().flush()
    }
}
