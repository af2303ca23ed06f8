//! The headers of frames and blocks (RFC 8878, 3.1.1.1 and 3.1.1.2).

use super::{
    Result,
    fault::{Fault, truncated},
};

/// The first number of a frame.
pub(super) const MAGIC: u32 = 0xFD2F_B528;

/// Frames without content begin with this number or one of the 15 after it.
const SKIPPABLE: u32 = 0x184D_2A50;

/// The largest block of any frame (bytes).
pub(super) const MAX_BLOCK: usize = 128 << 10;

/// The largest window that the C library decodes, as the binary logarithm of bytes.
const MAX_WINDOW_LOG: u8 = if cfg!(target_pointer_width = "64") { 31 } else { 30 };

/// The header of a frame.
pub(super) struct FrameHeader {
    /// Start of the first block.
    pub(super) end: usize,
    /// The largest block (bytes).
    pub(super) max_block: usize,
    /// Bytes of the content, if the header tells them.
    pub(super) nbytes: Option<u64>,
    /// The dictionary that the frame needs; 0 if the header does not tell it.
    pub(super) dict: u32,
    pub(super) has_checksum: bool,
}

/// The unsigned number in the first `n` bytes from `at`.
pub(super) fn number(src: &[u8], at: usize, n: usize) -> Result<u64> {
    let rest = src.get(at..).unwrap_or_default();
    let bytes = rest.get(..n).ok_or_else(|| truncated(at, n, rest.len()))?;
    let mut word = [0; 8];
    word.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte);
    Ok(u64::from_le_bytes(word))
}

/// The number of four bytes at `at`.
pub(super) fn number32(src: &[u8], at: usize) -> Result<u32> {
    // Four bytes are 32 bits.
    number(src, at, 4).map(|number| u32::try_from(number).unwrap_or_default())
}

/// The end of a frame without content at `at`, if there is one.
pub(super) fn skippable_end(src: &[u8], at: usize) -> Result<Option<usize>> {
    if number32(src, at)? & !15 != SKIPPABLE {
        return Ok(None);
    }
    let (start, have) = (at + 8, src.len().saturating_sub(at + 8));
    let need = number32(src, at + 4)? as usize;
    if need > have {
        return Err(truncated(start, need, have));
    }
    Ok(Some(start + need))
}

impl FrameHeader {
    /// Reads the header of the frame that begins at `at`.
    pub(super) fn read(src: &[u8], at: usize) -> Result<Self> {
        let found = number32(src, at)?;
        if found != MAGIC {
            return Err(Fault::Magic { found }.into_error(at));
        }
        let flags = at + 4;
        let [descriptor, ..] = number(src, flags, 1)?.to_le_bytes();
        if descriptor & 8 != 0 {
            return Err(Fault::Reserved.into_error(flags));
        }
        let is_single = descriptor & 0x20 != 0;
        let mut end = flags + 1;
        let mut take = |n| {
            let value = number(src, end, n);
            end += n;
            value
        };
        let window = if is_single { None } else { Some(window(take(1)?, flags + 1)?) };
        let dict = take([0, 1, 2, 4][usize::from(descriptor & 3)])?;
        let nbytes = match descriptor >> 6 {
            0 if !is_single => None,
            0 => Some(take(1)?),
            1 => Some(take(2)? + 256),
            2 => Some(take(4)?),
            _ => Some(take(8)?),
        };
        let window = window.or(nbytes).unwrap_or_default();
        Ok(Self {
            end,
            max_block: usize::try_from(window).unwrap_or(MAX_BLOCK).min(MAX_BLOCK),
            nbytes,
            // It has at most four bytes.
            dict: u32::try_from(dict).unwrap_or_default(),
            has_checksum: descriptor & 4 != 0,
        })
    }
}

/// The size of a window (bytes).
fn window(byte: u64, at: usize) -> Result<u64> {
    let [byte, ..] = byte.to_le_bytes();
    let log = 10 + (byte >> 3);
    if log > MAX_WINDOW_LOG {
        return Err(Fault::Window { log, limit: MAX_WINDOW_LOG }.into_error(at));
    }
    let base = 1 << log;
    Ok(base + base / 8 * u64::from(byte & 7))
}

/// The kind of a block.
pub(super) enum BlockKind {
    Raw,
    Run,
    Compressed,
}

/// The header of a block.
pub(super) struct BlockHeader {
    pub(super) kind: BlockKind,
    /// Bytes of its content, or of the block if it is compressed.
    pub(super) nbytes: usize,
    pub(super) is_last: bool,
}

impl BlockHeader {
    pub(super) const NBYTES: usize = 3;

    pub(super) fn read(src: &[u8], at: usize) -> Result<Self> {
        let [first, ..] = number(src, at, Self::NBYTES)?.to_le_bytes();
        let kind = match first >> 1 & 3 {
            0 => BlockKind::Raw,
            1 => BlockKind::Run,
            2 => BlockKind::Compressed,
            _ => return Err(Fault::Reserved.into_error(at)),
        };
        let nbytes = usize::try_from(number(src, at, Self::NBYTES)? >> 3).unwrap_or(usize::MAX);
        Ok(Self { kind, nbytes, is_last: first & 1 == 1 })
    }
}
