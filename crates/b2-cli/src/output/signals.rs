//! Signals that end the program, and what is removed before.
//!
//! SIGHUP, SIGINT, SIGQUIT and SIGTERM end up in a thread that removes the files of the list of
//! [`Unfinished`] and lets the signal end the process, so that a shell sees it and ends its loops.
//! A signal that the process was started to ignore, as `nohup` does, stays ignored. SIGXFSZ becomes
//! an error of the write that is too long. There is one list and one thread for the whole process.

use std::{
    io::{self, Read as _},
    path::Path,
    sync::{Mutex, PoisonError},
};

use blosc_io::replace::Unfinished;

/// The list that the thread of the signals knows.
static OF_PROCESS: Mutex<Option<Unfinished>> = Mutex::new(None);

/// The list of this process; the first call starts the thread that waits for signals.
///
/// # Errors
///
/// When the system does not let signals be caught or the thread be started.
pub(crate) fn unfinished_of_process() -> io::Result<Unfinished> {
    let mut process = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(unfinished) = &*process {
        return Ok(unfinished.clone());
    }
    let unfinished = Unfinished::default();
    watch(&unfinished)?;
    Ok(process.insert(unfinished).clone())
}

/// Lists a frame that the caller has locked, and that gets chunks after its end. They are cut off
/// unless the frame is settled by a commit.
pub(crate) fn grow(unfinished: &Unfinished, path: &Path) {
    if let Ok(metadata) = path.metadata()
        && metadata.is_file()
    {
        let (frame, len) = (path.to_owned(), metadata.len());
        unfinished.change(path, move || {
            let _cut = cut_off(&frame, len);
        });
    }
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
    // A signal that is caught lets the write fail with EFBIG.
    flag::register(SIGXFSZ, std::sync::Arc::default())?;
    let unfinished = unfinished.clone();
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            unfinished.abandon(|| end(signal));
        }
    })?;
    Ok(())
}

/// Nothing to wait for on systems without signals.
#[cfg(not(unix))]
fn watch(_: &Unfinished) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn end(signal: i32) -> ! {
    crate::render::progress::clear();
    let _ended = signal_hook::low_level::emulate_default_handler(signal);
    // Where the signal does not end the process, its number does.
    std::process::exit(128 + signal)
}

/// The signals that are ignored, a bit each from the lowest on, as Linux reports them in
/// `/proc/self/status`; none where nothing is reported.
#[cfg(unix)]
fn ignored_signals(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Cuts a frame that has grown back to `len` bytes, if they are still all of it.
fn cut_off(path: &Path, len: u64) -> io::Result<()> {
    let mut file = std::fs::File::options().read(true).write(true).open(path)?;
    let mut head = vec![];
    io::Read::take(&mut file, 256).read_to_end(&mut head)?;
    let is_all =
        b2frame::header::FrameHeader::parse(&head).is_ok_and(|header| header.frame_len() <= len);
    if is_all && file.metadata()?.len() > len { file.set_len(len) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn ignored_signals_are_bits_of_a_line() {
        assert_eq!(ignored_signals("Name:\tb2\nSigIgn:\t0000000000001001\nSigCgt:\t1\n"), 0x1001);
        assert_eq!(ignored_signals("no such line"), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_frame_is_cut_back_unless_it_has_grown_for_good() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.b2frame");
        let frame = b2frame::to_cframe(&[7; 1000], &b2frame::FrameParams::default()).unwrap();
        std::fs::write(&path, [&frame[..], &[1; 500]].concat()).unwrap();
        let len = frame.len() as u64;
        cut_off(&path, len).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), frame);
        // A commit has come first: the header says that there is more.
        cut_off(&path, len - 1).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), frame);
        for is_settled in [false, true] {
            let unfinished = Unfinished::default();
            grow(&unfinished, &path);
            std::fs::write(&path, [&frame[..], &[1; 500]].concat()).unwrap();
            if is_settled {
                unfinished.settle(&path, || ());
            }
            unfinished.abandon(|| ());
            assert_eq!(std::fs::read(&path).unwrap().len() > frame.len(), is_settled);
        }
    }
}
