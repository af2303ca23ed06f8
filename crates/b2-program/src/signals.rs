//! Signals that end the program, and the files that are removed before.
//!
//! A thread receives SIGHUP, SIGINT, SIGQUIT and SIGTERM, and removes the files on the list of
//! [`Unfinished`]. Then the signal ends the process, so that a shell ends its loops. Signals that
//! were ignored at the start (`nohup`) stay ignored. SIGXFSZ becomes an error of the write that
//! exceeds the limit. The process has one list and one thread.

use std::{
    io,
    sync::{Mutex, PoisonError},
};

pub use blosc_io::replace::Unfinished;

use crate::{Doing, Error};

/// The list that the thread works on.
static OF_PROCESS: Mutex<Option<Unfinished>> = Mutex::new(None);

/// The list of this process; the first call starts the thread that waits for signals.
///
/// # Errors
///
/// When the system cannot catch signals or start the thread.
pub fn unfinished_of_process() -> Result<Unfinished, Error> {
    let mut process = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(unfinished) = &*process {
        return Ok(unfinished.clone());
    }
    let unfinished = Unfinished::default();
    if cfg!(panic = "abort") {
        undo_on_panic(&unfinished);
    }
    watch(&unfinished).map_err(Error::io(Doing::Signals))?;
    Ok(process.insert(unfinished).clone())
}

/// A panic that ends the process drops nothing, so the hook works off the list.
fn undo_on_panic(unfinished: &Unfinished) {
    let (unfinished, tell) = (unfinished.clone(), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| {
        unfinished.try_abandon();
        tell(panic);
    }));
}

/// Starts the thread that waits for signals.
#[cfg(unix)]
fn watch(unfinished: &Unfinished) -> io::Result<()> {
    use signal_hook::{
        consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ},
        flag,
        iterator::Signals,
    };
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = ignored_signals(&status);
    let is_heard = |signal: &i32| ignored >> (signal - 1) & 1 == 0;
    let mut signals =
        Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter().filter(is_heard))?;
    // With a handler for SIGXFSZ, the write fails with EFBIG instead.
    flag::register(SIGXFSZ, std::sync::Arc::default())?;
    let unfinished = unfinished.clone();
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            unfinished.abandon(|| end(signal));
        }
    })?;
    Ok(())
}

/// Systems without signals need no thread.
#[cfg(not(unix))]
fn watch(_: &Unfinished) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn end(signal: i32) -> ! {
    crate::progress::clear();
    let _ended = signal_hook::low_level::emulate_default_handler(signal);
    // If the signal does not end the process, exit with its number.
    std::process::exit(128 + signal)
}

/// The ignored signals as bits, the lowest first, from `/proc/self/status` of Linux; none
/// elsewhere.
#[cfg(unix)]
fn ignored_signals(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_bits_of_a_line() {
        assert_eq!(ignored_signals("Name:\tb2\nSigIgn:\t0000000000001001\nSigCgt:\t1\n"), 0x1001);
        assert_eq!(ignored_signals("no such line"), 0);
    }
}
