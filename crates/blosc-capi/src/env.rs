//! The variables of the environment, read at each call as C-Blosc does.
//!
//! C-Blosc looks up each of nine variables in turn. Here one pass over the environment finds all,
//! which takes a fifth of the time: that matters in a call for a small chunk.
#![allow(unsafe_code, reason = "the environment is C's, and others change it")]

use core::ffi::{CStr, c_char};
use core::ptr::{self, NonNull};

unsafe extern "C" {
    /// The texts `NAME=VALUE`, up to a NULL.
    static environ: *const *const c_char;
}

/// The prefix of the names of all variables.
const PREFIX: &[u8] = b"BLOSC_";

/// The variables with the prefix that are set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// `BLOSC_CLEVEL`, a level.
    pub clevel: Option<i64>,
    /// `BLOSC_SHUFFLE`; `None` also for an unknown word.
    pub shuffle: Option<i32>,
    /// `BLOSC_TYPESIZE` (bytes).
    pub typesize: Option<i64>,
    /// `BLOSC_COMPRESSOR`, a name, known or not.
    pub compressor: Option<Vec<u8>>,
    /// `BLOSC_BLOCKSIZE` (bytes).
    pub blocksize: Option<i64>,
    /// `BLOSC_NTHREADS`.
    pub nthreads: Option<i64>,
    /// `BLOSC_SPLITMODE`, a number of [`set_splitmode`](crate::blosc1::set_splitmode), or an error
    /// for an unknown word.
    pub splitmode: Option<Result<i32, ()>>,
    /// `BLOSC_WARN`: write messages.
    pub warn: bool,
    /// `BLOSC_TRACE`: write messages of libblosc2.
    pub trace: bool,
    /// `BLOSC_DELTA`: whether the filter delta is used.
    pub delta: Option<bool>,
    /// `BLOSC_BLOSC1_COMPAT`: chunks are for readers of Blosc 1.
    pub blosc1_compat: bool,
}

impl Variables {
    /// Reads the variables now.
    #[must_use]
    pub fn read() -> Self {
        let mut found = Self::default();
        each(&mut |name, value| found.take(name, value));
        found
    }

    /// Takes one variable; `name` is without the prefix. Of several with the same name the first
    /// counts.
    fn take(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"CLEVEL" => keep(&mut self.clevel, || Some(number(value))),
            b"SHUFFLE" => keep(&mut self.shuffle, || shuffle(value)),
            b"TYPESIZE" => keep(&mut self.typesize, || Some(number(value))),
            b"COMPRESSOR" => keep(&mut self.compressor, || Some(value.to_vec())),
            b"BLOCKSIZE" => keep(&mut self.blocksize, || Some(number(value))),
            b"NTHREADS" => keep(&mut self.nthreads, || Some(number(value))),
            b"SPLITMODE" => keep(&mut self.splitmode, || Some(splitmode(value))),
            b"WARN" => self.warn = true,
            b"TRACE" => self.trace = true,
            b"DELTA" => keep(&mut self.delta, || delta(value)),
            b"BLOSC1_COMPAT" => self.blosc1_compat = true,
            _ => {}
        }
    }
}

fn keep<T>(place: &mut Option<T>, value: impl FnOnce() -> Option<T>) {
    if place.is_none() {
        *place = value();
    }
}

/// Calls `take` with the name, without the prefix, and the value of each variable with the prefix.
fn each(take: &mut dyn FnMut(&[u8], &[u8])) {
    let place = ptr::addr_of!(environ);
    // SAFETY: C has this pointer for the process. Another thread may replace it: it is read once.
    let mut next = unsafe { place.read_volatile() };
    while let Some(place) = NonNull::new(next.cast_mut()) {
        // SAFETY: the list ends with a NULL, and none was read so far. If a thread changes it at
        // the same time, `getenv` reads the same memory.
        let entry = unsafe { place.read() };
        if entry.is_null() {
            return;
        }
        // SAFETY: a text of C has one byte at least.
        let first = unsafe { entry.read() };
        if first.cast_unsigned() == b'B' {
            // SAFETY: entries are texts of C.
            take_entry(unsafe { CStr::from_ptr(entry) }.to_bytes(), take);
        }
        // SAFETY: the entry was no NULL, so one more follows.
        next = unsafe { next.add(1) };
    }
}

fn take_entry(entry: &[u8], take: &mut dyn FnMut(&[u8], &[u8])) {
    let Some(entry) = entry.strip_prefix(PREFIX) else { return };
    if let Some((name, value)) =
        entry.iter().position(|byte| *byte == b'=').and_then(|at| entry.split_at_checked(at))
    {
        take(name, value.get(1..).unwrap_or(&[]));
    }
}

/// Parses a number as `strtol` does: text after it is ignored, and a text without a number is 0.
fn number(text: &[u8]) -> i64 {
    let text = text.trim_ascii_start();
    let (is_negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    };
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    let value = digits.fold(0_i64, |value, digit| {
        value.saturating_mul(10).saturating_add(i64::from(digit.wrapping_sub(b'0')))
    });
    if is_negative { value.saturating_neg() } else { value }
}

/// The lower half of a number, which C takes where it counts in 32 bits.
#[must_use]
pub fn lower(n: i64) -> i32 {
    let [a, b, c, d, ..] = n.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

/// A number that is positive, also for C-Blosc2, which counts in 32 bits.
pub(crate) fn positive(n: Option<i64>) -> Option<i32> {
    n.filter(|n| *n > 0).map(lower).filter(|n| *n > 0)
}

fn shuffle(word: &[u8]) -> Option<i32> {
    [&b"NOSHUFFLE"[..], b"SHUFFLE", b"BITSHUFFLE"]
        .into_iter()
        .zip(0..)
        .find_map(|(name, shuffle)| (name == word).then_some(shuffle))
}

fn delta(word: &[u8]) -> Option<bool> {
    match word {
        b"1" => Some(true),
        b"0" => Some(false),
        _ => None,
    }
}

fn splitmode(word: &[u8]) -> Result<i32, ()> {
    match word {
        b"ALWAYS" => Ok(1),
        b"NEVER" => Ok(2),
        b"AUTO" => Ok(3),
        b"FORWARD_COMPAT" => Ok(4),
        _ => Err(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_strtol_does() {
        let cases: [(&str, i64); 8] = [
            ("5", 5),
            ("5x", 5),
            ("x", 0),
            ("", 0),
            (" -7", -7),
            ("+3", 3),
            ("99999999999999999999", i64::MAX),
            ("-", 0),
        ];
        for (text, value) in cases {
            assert_eq!(number(text.as_bytes()), value, "{text}");
        }
    }

    #[test]
    fn words_stand_for_numbers() {
        let mut found = Variables::default();
        take_entry(b"BLOSC_SHUFFLE=BITSHUFFLE", &mut |name, value| found.take(name, value));
        take_entry(b"BLOSC_SPLITMODE=never", &mut |name, value| found.take(name, value));
        take_entry(b"BLOSC_COMPRESSOR=a=b", &mut |name, value| found.take(name, value));
        take_entry(b"BLOSC_CLEVEL", &mut |name, value| found.take(name, value));
        let expected = Variables {
            shuffle: Some(2),
            splitmode: Some(Err(())),
            compressor: Some(b"a=b".to_vec()),
            ..Variables::default()
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn the_environment_has_an_end() {
        let mut nseen = 0;
        each(&mut |_, _| nseen += 1);
        let ours =
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BLOSC_"));
        assert_eq!(nseen, ours.count());
    }
}
