//! Copies by the system that would be slow, done in two steps.
//!
//! Reading and writing copy between the caller's memory and pages of the file, by one instruction
//! of the processor. On AMD's Zen 3 and Zen 4 this is ten times as slow (2 GB/s) if the destination
//! begins 1 to 63 bytes after the source, not counting whole pages. Memory from an allocator often
//! has this offset to the page with the file's bytes. Then the system copies to or from a
//! well-placed buffer, and the second copy happens in the cache.

use std::io;

/// The least page of all systems.
const PAGE_NBYTES: usize = 4096;
/// Bytes that are read or written at once; they stay in the cache.
const PIECE_NBYTES: usize = 64 << 10;
/// For fewer bytes, the second copy costs more than it saves.
const MIN_NBYTES: usize = 4 << 10;

/// Whether a copy between these offsets in pages is slow.
pub(super) fn is_slow(from: u64, to: u64, len: usize) -> bool {
    is_right_after(from, to) && len >= MIN_NBYTES && has_such_copies()
}

#[allow(clippy::cast_possible_truncation, reason = "the place in a page is in the lowest bits")]
fn is_right_after(from: u64, to: u64) -> bool {
    (1..64).contains(&((to.wrapping_sub(from) as usize) % PAGE_NBYTES))
}

/// Whether the processor may be a Zen 3 or Zen 4. They have no AVX-VNNI, which came to AMD with Zen
/// 5; on Zen 5 the copy is slower by a quarter, and the two steps by a third.
fn has_such_copies() -> bool {
    #[cfg(target_arch = "x86_64")]
    let may_have = !std::is_x86_feature_detected!("avxvnni");
    #[cfg(not(target_arch = "x86_64"))]
    let may_have = false;
    may_have
}

/// Reads from position `at` on by `read`, until `dest` is full or the file ends.
pub(super) fn read(
    at: u64,
    dest: &mut [u8],
    read: impl Fn(u64, &mut [u8]) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut buffer = Buffer::new(at, dest.len());
    let mut done = 0;
    while done < dest.len() {
        let piece = buffer.piece(dest.len() - done);
        match read(at + done as u64, piece) {
            Ok(0) => break,
            Ok(n) => {
                dest[done..done + n].copy_from_slice(&piece[..n]);
                done += n;
            }
            Err(_) if done > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Writes `src` to position `at` on by `write`, until it takes less than it is given.
pub(super) fn write(
    at: u64,
    src: &[u8],
    write: impl Fn(u64, &[u8]) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut buffer = Buffer::new(at, src.len());
    let mut done = 0;
    while done < src.len() {
        let piece = buffer.piece(src.len() - done);
        piece.copy_from_slice(&src[done..done + piece.len()]);
        match write(at + done as u64, piece) {
            Ok(n) => {
                done += n;
                if n < piece.len() {
                    break;
                }
            }
            Err(_) if done > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Memory whose offset in its page differs by half a page from that of the file's bytes.
struct Buffer {
    bytes: Vec<u8>,
    start: usize,
}

impl Buffer {
    #[allow(clippy::cast_possible_truncation, reason = "the place in a page is in the lowest bits")]
    fn new(at: u64, len: usize) -> Self {
        let bytes = vec![0; len.min(PIECE_NBYTES) + PAGE_NBYTES];
        let wanted = (at as usize).wrapping_add(PAGE_NBYTES / 2);
        Self { start: wanted.wrapping_sub(bytes.as_ptr().addr()) % PAGE_NBYTES, bytes }
    }

    /// A piece of the buffer for `len` bytes, or all of it if they are more.
    fn piece(&mut self, len: usize) -> &mut [u8] {
        &mut self.bytes[self.start..][..len.min(PIECE_NBYTES)]
    }
}

#[cfg(test)]
mod tests {
    use core::cell::RefCell;

    use super::*;

    #[test]
    fn slow_is_right_after() {
        assert!(is_right_after(0, 16) && is_right_after(8191, 4096) && is_right_after(100, 163));
        assert!(!is_right_after(0, 0) && !is_right_after(0, 64) && !is_right_after(1, 0));
        assert_eq!(is_slow(0, 16, MIN_NBYTES), has_such_copies());
        assert!(!is_slow(0, 16, MIN_NBYTES - 1));
    }

    #[test]
    fn a_buffer_lies_well_and_everything_comes_through_it() {
        let data: Vec<u8> =
            (0..200_000).map(|i: u32| i.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
        for at in [0, 1, 4095, 70_000] {
            // At most 50,000 bytes at once.
            let pread = |from: u64, buf: &mut [u8]| {
                assert!(!is_right_after(from, buf.as_ptr().addr() as u64));
                let rest = &data[usize::try_from(from).unwrap()..];
                let n = buf.len().min(rest.len()).min(50_000);
                buf[..n].copy_from_slice(&rest[..n]);
                Ok(n)
            };
            for len in [4096, PIECE_NBYTES, PIECE_NBYTES + 1, data.len()] {
                let mut dest = vec![0; len];
                let expected = &data[at..data.len().min(at + len)];
                assert_eq!(read(at as u64, &mut dest, pread).unwrap(), expected.len());
                assert!(dest[..expected.len()] == *expected);
            }
            let pwrite = |to: u64, bytes: &[u8]| {
                assert!(!is_right_after(bytes.as_ptr().addr() as u64, to));
                assert!(to == at as u64 && *bytes == data[..bytes.len()]);
                Ok(bytes.len() - 1)
            };
            assert_eq!(write(at as u64, &data, pwrite).unwrap(), PIECE_NBYTES - 1);
            assert_eq!(write(at as u64, &data[..5000], pwrite).unwrap(), 4999);
            let file = RefCell::new(vec![0; at]);
            let append = |to: u64, bytes: &[u8]| {
                assert_eq!(to, file.borrow().len() as u64);
                file.borrow_mut().extend_from_slice(bytes);
                Ok(bytes.len())
            };
            assert_eq!(write(at as u64, &data, append).unwrap(), data.len());
            assert!(file.borrow()[at..] == data);
        }
    }

    #[test]
    fn an_error_comes_first_or_with_the_next_call() {
        let fail_from = |limit: u64| {
            move |at: u64, buf: &mut [u8]| {
                if at < limit { Ok(buf.len()) } else { Err(io::ErrorKind::Other.into()) }
            }
        };
        assert_eq!(read(0, &mut [0; 2 * PIECE_NBYTES], fail_from(1)).unwrap(), PIECE_NBYTES);
        assert!(read(0, &mut [0; 2 * PIECE_NBYTES], fail_from(0)).is_err());
    }
}
