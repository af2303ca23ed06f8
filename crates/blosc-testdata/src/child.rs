//! A child of `fork` that continues a test.

use core::panic::AssertUnwindSafe;
use core::time::Duration;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::panic::catch_unwind;
use std::thread;
use std::time::Instant;

use fork::{Fork, fork, waitpid, waitpid_nohang};
use rustix::process::{Pid, Signal, kill_process};

/// Time for the child.
const MAX_TIME: Duration = Duration::from_secs(20);

/// Runs `test` in a child of `fork`, which has no other thread of this process.
///
/// # Panics
///
/// If the test panics, or has not ended after 20 seconds.
#[allow(clippy::panic, clippy::expect_used, reason = "it is an assertion")]
pub fn in_child(test: impl FnOnce()) {
    let (reader, writer) = pipe().expect("a pipe");
    match fork() {
        Ok(Fork::Child) => run(test, writer),
        Ok(Fork::Parent(pid)) => {
            drop(writer);
            wait_for(pid, reader);
        }
        Err(error) => panic!("no child: {error}"),
    }
}

/// Never returns: the rest of the program belongs to the parent.
fn run(test: impl FnOnce(), mut writer: PipeWriter) -> ! {
    let done = catch_unwind(AssertUnwindSafe(test));
    let Err(panic) = done else { std::process::exit(0) };
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    drop(writer.write_all(text.as_bytes()));
    std::process::exit(1)
}

#[allow(clippy::panic, reason = "it is an assertion")]
fn wait_for(pid: i32, mut reader: PipeReader) {
    let start = Instant::now();
    while start.elapsed() < MAX_TIME {
        match waitpid_nohang(pid) {
            Ok(Some(0)) => return,
            Ok(Some(status)) => {
                let mut text = String::new();
                drop(reader.read_to_string(&mut text));
                panic!("the child ended with status {status}: {text}")
            }
            Ok(None) => thread::sleep(Duration::from_millis(1)),
            Err(error) => panic!("the child is gone: {error}"),
        }
    }
    Pid::from_raw(pid).map(|pid| kill_process(pid, Signal::KILL));
    drop(waitpid(pid));
    panic!("the child hangs");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_child_decides() {
        in_child(|| ());
        let panic = catch_unwind(|| in_child(|| panic!("on purpose"))).unwrap_err();
        assert!(panic.downcast_ref::<String>().unwrap().ends_with(": on purpose"));
    }
}
