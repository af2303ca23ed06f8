//! Runs that are written without data.

use super::plan::Plan;
use super::{Encoder, max_compressed_len};
use crate::error::{Error, Param, Result};
use crate::flags::{Blosc2Flags, Flags};
use crate::header::ChunkHeader;
use crate::hooks::{BlockCx, Made};
use crate::params::{CParams, Target};
use crate::raw::RawExtension;
use crate::special::Special;

/// A chunk of `nbytes` bytes that is a run.
///
/// Zeros that are not whole items become a chunk of many small runs, since C-Blosc2 before 3.1.5
/// refuses the short form.
///
/// ```
/// use blosc_chunk::{CParams, Special, decompress, special_chunk};
///
/// let value = 3.5f32.to_le_bytes();
/// let chunk = special_chunk(Special::Value(&value), 4000, &CParams::default().typesize(4))?;
/// assert_eq!(chunk.len(), 36);
/// assert_eq!(decompress(&chunk)?, value.repeat(1000));
/// # Ok::<(), blosc_chunk::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Param`] if the run does not consist of whole items, a value is not as wide as the
/// typesize, or NaN items are neither 4 nor 8 bytes; also if the target does not support these
/// chunks.
pub fn special_chunk(special: Special<'_>, nbytes: usize, params: &CParams) -> Result<Vec<u8>> {
    check(&special, nbytes, params)?;
    let whole = nbytes.is_multiple_of(params.typesize) && nbytes.is_multiple_of(stored(params));
    if nbytes == 0 || (special == Special::Zeros && !whole) {
        let zeros = |_: BlockCx<'_>, _: &mut [u8]| Ok(Made::Zeros);
        return Encoder::new(params.clone())?.encode_with(nbytes, &zeros);
    }
    let plan = Plan::new(params, nbytes, max_compressed_len(nbytes))?;
    let value = if let Special::Value(value) = special { value } else { &[] };
    let header = header(&plan, &special, params);
    Ok([&header.to_bytes(), value].concat())
}

fn check(special: &Special<'_>, nbytes: usize, params: &CParams) -> Result<()> {
    params.check()?;
    let (target, typesize) = (params.target, params.typesize);
    if target.is_blosc1() {
        return Err(Error::Param(Param::ForTarget { what: "special chunks", target }));
    }
    let (width, fits) = match special {
        Special::Zeros => return Ok(()),
        Special::Uninit => (typesize, true),
        Special::Nans => (typesize, matches!(typesize, 4 | 8)),
        Special::Value(value) => (value.len(), value.len() == typesize),
    };
    if !fits || !nbytes.is_multiple_of(typesize) {
        return Err(Error::Param(Param::SpecialValue { width, typesize, nbytes }));
    }
    if matches!(special, Special::Value(_)) && width > 255 && target < Target::Blosc3_0 {
        return Err(Error::Param(Param::ForTarget { what: "values wider than 255 bytes", target }));
    }
    Ok(())
}

fn stored(params: &CParams) -> usize {
    usize::from(params.stored_typesize())
}

/// The header that the constructors of C-Blosc2 write: no filters, no codec. Its readers expand a
/// run block by block, so a block has whole items, even if the caller chose a smaller size.
fn header(plan: &Plan, special: &Special<'_>, params: &CParams) -> ChunkHeader {
    let blocksize = plan.grid.blocksize.max(params.typesize);
    let width = if let Special::Value(value) = special { value.len() } else { 0 };
    let flags = Blosc2Flags(special.kind().code() << 4);
    let header = plan.finish(ChunkHeader::MAX_LEN + width).with_flags(Flags(Flags::EXTENDED));
    header.with_blocksize(blocksize).with_extension(RawExtension::NONE).with_blosc2_flags(flags)
}
