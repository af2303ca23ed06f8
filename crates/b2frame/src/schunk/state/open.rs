//! Reads all of a frame except its chunks.

use std::sync::Arc;

use super::{FrameState, Parts};
use crate::error::{Corrupt, Error, Limited, Result};
use crate::header::{FIXED_LEN, FrameHeader, FrameType};
use crate::legacy::{self, FrameLayout};
use crate::metalayers::{Metalayers, Section};
use crate::nd::NdMeta;
use crate::offsets::Index;
use crate::params::OpenOptions;
use crate::probe::Kind;
use crate::schunk::check_limit;
use crate::schunk::prefetch::announce_metadata;
use crate::seal::{self, Mark};
use crate::source::Source;
use crate::sparse::Folder;
use crate::trailer::{self, TrailerEnd};

impl FrameState {
    /// Header, trailer, index, in this order: each needs the previous one. Also returns the options
    /// for the items of the frame.
    pub(crate) fn open(
        source: Source,
        folder: Option<Folder>,
        options: OpenOptions,
    ) -> Result<(Self, OpenOptions)> {
        let available = source.available()?;
        let (head, len) = source.read_head::<FIXED_LEN>(0, available)?;
        let head = head.get(..len).unwrap_or_default();
        let layout = FrameLayout::recognize(head, available)?;
        if source.prefetch_limit() > 0 {
            announce_metadata(&source, head);
        }
        let parts = if layout == FrameLayout::Current {
            read_parts(&source, head, available, folder.is_some(), &options)?
        } else {
            legacy::read(&source, layout, head, available, &options)?
        };
        let options = options.for_items_of(&parts.header, &parts.meta);
        check_type(&parts.header, folder.is_some())?;
        let mut state = Self { layout, ..Self::new(source, folder, parts) };
        if state.header.nbytes() > 0 {
            let end = state.header.frame_len().saturating_sub(state.trailer_len.into());
            let (max, dparams) = (options.max_index, &options.dparams);
            state.index = Index::open(&state.source, &state.header, end, max, dparams)?;
        }
        Ok((state, options))
    }
}

/// Attempts to read a header while other programs change its length.
const MAX_HEADER_READS: usize = 10;

/// All of a frame in the current layout except index and chunks.
fn read_parts(
    source: &Source,
    head: &[u8],
    available: u64,
    is_folder: bool,
    options: &OpenOptions,
) -> Result<Parts> {
    let (header, meta) = read_header(source, head, available, |header| {
        check_type(header, is_folder)?;
        check_limit(Limited::Metadata, header.header_len().into(), options.max_metadata)
    })?;
    let (trailer_len, vlmeta, mark) = read_trailer(source, &header, options.max_metadata)?;
    Ok(Parts { header, meta, vlmeta, trailer_len, mark })
}

impl OpenOptions {
    /// The options with the facts that some codecs and filters need to decode chunks: the shape of
    /// blocks, and the real width of items. Choices of the caller stay.
    pub(crate) fn for_items_of(mut self, header: &FrameHeader, meta: &Metalayers) -> Self {
        let layer = meta.get(NdMeta::NAME).or_else(|| meta.get(NdMeta::OLD_NAME));
        // Only opening an array reports an invalid description.
        let shapes = layer.and_then(|layer| NdMeta::parse(layer.content).ok());
        let dparams = &mut self.dparams;
        if let (None, Some(shapes)) = (&dparams.blockshape, shapes) {
            dparams.blockshape = Some(Arc::from(shapes.blockshape()));
        }
        dparams.schunk_typesize =
            dparams.schunk_typesize.or_else(|| usize::try_from(header.typesize().get()).ok());
        self
    }
}

/// Checks that a directory holds the index of a sparse frame, and a file a contiguous one.
fn check_type(header: &FrameHeader, is_folder: bool) -> Result<()> {
    match header.frame_type() {
        FrameType::Contiguous if is_folder => Err(Error::corrupt(0x1a, Corrupt::NotSparse)),
        FrameType::Sparse if !is_folder => Err(Error::Sparse),
        _ => Ok(()),
    }
}

/// Reads the header and its metalayers as one commit left them. A writer replaces both in one
/// write, which may come after the read of `head`: only the read of the whole counts.
fn read_header(
    source: &Source,
    head: &[u8],
    available: u64,
    check: impl Fn(&FrameHeader) -> Result<()>,
) -> Result<(FrameHeader, Metalayers)> {
    let mut header = parse_header(source, head, available)?;
    for _ in 0..MAX_HEADER_READS {
        check(&header)?;
        let len = header.header_len();
        let bytes = source.read_vec(0, usize::try_from(len).unwrap_or(usize::MAX))?;
        let now = bytes.get(..FIXED_LEN).unwrap_or_default();
        if now != head {
            header = parse_header(source, now, source.available()?)?;
        }
        if header.header_len() == len {
            let meta = Metalayers::parse(bytes, Section::HEADER);
            return Ok((header, meta.map_err(|error| error.moved(source.base()))?));
        }
    }
    Err(Error::ChangedByOther)
}

/// The fixed part of the header, checked against the length of the file.
fn parse_header(source: &Source, head: &[u8], available: u64) -> Result<FrameHeader> {
    if head.is_empty() {
        return Err(Error::NotAFrame { found: Kind::Empty });
    }
    let header = FrameHeader::parse(head).map_err(|error| error.moved(source.base()))?;
    let frame_len = header.frame_len();
    // The file may have grown since `available` was read.
    if frame_len > available && frame_len > source.available()? {
        let what = Corrupt::FrameTruncated { frame_len, available };
        return Err(Error::Corrupt { at: source.position(0x10), what });
    }
    Ok(header)
}

/// The metalayers, with positions in the frame.
pub(crate) fn read_meta(source: &Source, header: &FrameHeader) -> Result<Metalayers> {
    let len = usize::try_from(header.header_len()).unwrap_or(usize::MAX);
    let mut bytes = vec![0; len];
    // The fixed part was read already. Zeros replace it, since positions count from the frame's
    // start.
    source.read_into(FIXED_LEN as u64, bytes.get_mut(FIXED_LEN..).unwrap_or_default())?;
    Metalayers::parse(bytes, Section::HEADER).map_err(|error| error.moved(source.base()))
}

/// The length of the trailer, and its vlmetalayers.
pub(crate) fn read_trailer(
    source: &Source,
    header: &FrameHeader,
    max: u64,
) -> Result<(u32, Metalayers, Mark)> {
    let (trailer_len, (kind, fingerprint), mut vlmeta) =
        read_trailer_as(source, header, max, trailer::parse, |end, room| {
            let TrailerEnd { trailer_len, kind, fingerprint } = TrailerEnd::parse(end, room)?;
            Ok((trailer_len, (kind, fingerprint)))
        })?;
    let layer = vlmeta.take(seal::LAYER);
    Ok((trailer_len, vlmeta, Mark { kind, fingerprint, layer }))
}

/// The length of a trailer of any layout, the values of its last bytes, and its vlmetalayers.
/// `parse_end` gets the last bytes, and the largest possible length of the trailer.
pub(crate) fn read_trailer_as<E>(
    source: &Source,
    header: &FrameHeader,
    max: u64,
    parse: impl FnOnce(Vec<u8>) -> Result<Metalayers>,
    parse_end: impl FnOnce([u8; trailer::END_LEN], u64) -> Result<(u32, E)>,
) -> Result<(u32, E, Metalayers)> {
    let frame_len = header.frame_len();
    let end_at = frame_len.saturating_sub(trailer::END_LEN as u64);
    let room = frame_len.saturating_sub(header.header_len().into());
    let mut end = [0; trailer::END_LEN];
    source.read_into(end_at, &mut end)?;
    let (trailer_len, end) =
        parse_end(end, room).map_err(|error| error.moved(source.position(end_at)))?;
    check_limit(Limited::Metadata, trailer_len.into(), max)?;
    let at = frame_len.saturating_sub(trailer_len.into());
    let bytes = source.read_vec(at, usize::try_from(trailer_len).unwrap_or(usize::MAX))?;
    let layers = parse(bytes).map_err(|error| error.moved(source.position(at)))?;
    Ok((trailer_len, end, layers))
}
