//! The limit of working memory.
//!
//! The default is the same on every machine: 192 MiB, or half of the free memory if that is less.
//! It bounds buffers of chunks and states of codecs, and so the number of threads.

use std::fs;

/// Working memory by default (bytes).
const DEFAULT: u64 = 192 << 20;

/// The working memory in bytes: `asked`, or the default.
#[must_use]
pub fn budget(asked: Option<u64>) -> u64 {
    asked.unwrap_or_else(|| available().map_or(DEFAULT, |free| DEFAULT.min(free / 2)))
}

/// Memory available without swapping (bytes), if the system reports it.
fn available() -> Option<u64> {
    parse_available(&fs::read_to_string("/proc/meminfo").ok()?)
}

fn parse_available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requested_memory_is_the_budget() {
        assert_eq!(budget(Some(1)), 1);
        assert!(budget(None) <= DEFAULT);
    }

    #[test]
    fn the_line_of_the_kernel_is_understood() {
        let text = "MemTotal:       24634496 kB\nMemAvailable:   1000 kB\n";
        assert_eq!(parse_available(text), Some(1_024_000));
        assert_eq!(parse_available("MemTotal: 1 kB\n"), None);
        assert_eq!(parse_available("MemAvailable: many kB\n"), None);
    }
}
