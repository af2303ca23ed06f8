//! New headers, and changes of a header. Each change keeps the invariants, except that a frame that
//! is not written yet has length 0.

use core::num::NonZeroU32;

use blosc_chunk::{CParams, CodecId, Dict, SplitMode};

use super::{ChunkSize, FrameHeader, FrameType, GeneralFlags, MAX_CHUNK};
use crate::error::{Error, Param, Result};

/// The fields that headers of the 2.0.0 betas also have.
pub(crate) struct OlderFields {
    pub header_len: u32,
    pub frame_len: u64,
    pub flags: GeneralFlags,
    pub codec_and_level: u8,
    pub udcodec: u8,
    pub nbytes: u64,
    pub cbytes: i64,
    pub typesize: NonZeroU32,
    pub chunksize: ChunkSize,
    pub threads: [i16; 2],
    pub has_vlmeta: bool,
    pub filters: [u8; 6],
    pub filters_meta: [u8; 6],
}

impl FrameHeader {
    /// The header of a contiguous frame without chunks.
    ///
    /// # Errors
    /// [`Param::Typesize`] if the typesize or the chunk size is zero or does not fit.
    pub(crate) fn new(
        header_len: u32,
        chunksize: usize,
        has_vlmeta: bool,
        cparams: &CParams,
    ) -> Result<Self> {
        let CodecId(codec) = cparams.codec;
        // Ids from 6 on do not fit the low half of the byte; 6 refers to `udcodec`.
        let (low, clevel) = (codec.min(6), cparams.clevel.get());
        let nonzero = |n: usize| u32::try_from(n).ok().and_then(NonZeroU32::new);
        let (Some(typesize), Some(chunksize)) = (nonzero(cparams.typesize), nonzero(chunksize))
        else {
            let (typesize, max) = (cparams.typesize as u64, MAX_CHUNK as u64);
            return Err(Param::Typesize { typesize, max }.into());
        };
        let blocksize = cparams.blocksize.unwrap_or(0).min(MAX_CHUNK);
        Ok(Self {
            header_len,
            frame_len: 0,
            flags: GeneralFlags::VERSION_2,
            frame_type: FrameType::Contiguous,
            codec_and_level: clevel << 4 | low,
            other_flags: match cparams.split {
                SplitMode::Always => 0,
                SplitMode::Never => 1,
                SplitMode::Auto => 2,
                _ => 3,
            },
            nbytes: 0,
            cbytes: 0,
            typesize,
            blocksize: u32::try_from(blocksize).unwrap_or(0),
            chunksize: ChunkSize::Fixed(chunksize),
            // The bytes must not depend on the number of threads.
            threads: [1, 1],
            has_vlmeta,
            nfilters: 6,
            filters: cparams.filters.ids(),
            filters_meta: cparams.filters.metas(),
            udcodec: codec,
            codec_meta: cparams.codec_meta,
            other_flags2: u8::from(cparams.dict != Dict::None),
            reserved: 0,
        })
    }

    /// The header of a frame of the betas, which its reader has checked.
    pub(crate) fn from_older(older: OlderFields) -> Self {
        Self {
            header_len: older.header_len,
            frame_len: older.frame_len,
            flags: older.flags,
            frame_type: FrameType::Contiguous,
            codec_and_level: older.codec_and_level,
            // The betas do not store the split mode; forward compatible is the default.
            other_flags: 3,
            nbytes: older.nbytes,
            cbytes: older.cbytes,
            typesize: older.typesize,
            blocksize: 0,
            chunksize: older.chunksize,
            threads: older.threads,
            has_vlmeta: older.has_vlmeta,
            nfilters: 6,
            filters: older.filters,
            filters_meta: older.filters_meta,
            udcodec: older.udcodec,
            codec_meta: 0,
            other_flags2: 0,
            reserved: 0,
        }
    }

    /// The same parameters for a frame without chunks.
    pub(crate) fn without_chunks(&self) -> Self {
        Self { nbytes: 0, cbytes: 0, frame_len: 0, ..self.clone() }
    }

    /// A header with chunks of this size. The flags of variable sizes come from `like`.
    pub(crate) fn chunks_like(self, chunksize: ChunkSize, like: &Self) -> Self {
        let flags = if chunksize == ChunkSize::Variable { like.flags } else { self.flags };
        Self { chunksize, flags, ..self }
    }

    /// Sets the kind of the frame.
    pub(crate) fn set_frame_type(&mut self, frame_type: FrameType) {
        self.frame_type = frame_type;
    }

    /// Sets the length of header and metalayers (bytes).
    pub(crate) fn set_header_len(&mut self, header_len: u32) {
        self.header_len = header_len;
    }

    /// Sets the length of the whole frame (bytes).
    pub(crate) fn set_frame_len(&mut self, frame_len: u64) {
        self.frame_len = frame_len;
    }

    /// Sets the length of the data section (bytes).
    pub(crate) fn set_cbytes(&mut self, cbytes: u64) -> Result<()> {
        // Positions in a store are less than 2^63.
        let cbytes = i64::try_from(cbytes);
        self.cbytes = cbytes.map_err(|_| Error::internal("a data section ends after 2^63"))?;
        Ok(())
    }

    /// Adds the bytes of a chunk that was stored.
    pub(crate) fn add_cbytes(&mut self, cbytes: u64) {
        self.cbytes = self.cbytes.saturating_add_unsigned(cbytes);
    }

    /// Subtracts the bytes of a chunk that was removed.
    pub(crate) fn subtract_cbytes(&mut self, cbytes: u64) {
        self.cbytes = self.cbytes.saturating_sub_unsigned(cbytes);
    }

    /// Sets the sum of the uncompressed sizes of all chunks (bytes).
    pub(crate) fn set_nbytes(&mut self, nbytes: u64) {
        self.nbytes = nbytes;
    }

    /// Replaces a chunk of `old` uncompressed bytes, 0 for none, by one of `new` bytes. If the
    /// chunk size is unset, this one sets it.
    pub(crate) fn replace_nbytes(&mut self, old: usize, new: usize) -> Result<()> {
        let others = self.nbytes.checked_sub(old as u64);
        let nbytes = others.and_then(|nbytes| nbytes.checked_add(new as u64));
        self.nbytes = nbytes.ok_or(Error::internal("a chunk has more data than the frame"))?;
        if self.chunksize == ChunkSize::Unset {
            let size = u32::try_from(new).ok().and_then(NonZeroU32::new);
            self.chunksize = size.map_or(ChunkSize::Unset, ChunkSize::Fixed);
        }
        Ok(())
    }

    /// Lets each chunk have its own size from now on.
    pub(crate) fn set_variable_chunks(&mut self) {
        self.chunksize = ChunkSize::Variable;
        self.flags = GeneralFlags(self.flags.0 & 0xf0 | 0x43);
    }

    /// Lets each chunk have its own size, and blocks of individual sizes.
    pub(crate) fn set_vl_blocks(&mut self) {
        self.set_variable_chunks();
        self.flags = GeneralFlags(self.flags.0 & 0xf0 | 0x83);
    }

    /// Says whether there are vlmetalayers.
    pub(crate) fn set_has_vlmeta(&mut self, has_vlmeta: bool) {
        self.has_vlmeta = has_vlmeta;
    }

    /// Sets how new chunks are compressed. The typesize stays.
    pub(crate) fn set_cparams(&mut self, cparams: &CParams) -> Result<()> {
        let new = Self::new(self.header_len, 1, self.has_vlmeta, cparams)?;
        *self = Self {
            codec_and_level: new.codec_and_level,
            udcodec: new.udcodec,
            codec_meta: new.codec_meta,
            other_flags: self.other_flags & !3 | new.other_flags,
            other_flags2: self.other_flags2 & !1 | new.other_flags2,
            blocksize: new.blocksize,
            nfilters: new.nfilters,
            filters: new.filters,
            filters_meta: new.filters_meta,
            ..self.clone()
        };
        Ok(())
    }

    /// Sets the filters for new chunks, slot 0 first.
    pub(crate) fn set_filters(&mut self, filters: [u8; 6], filters_meta: [u8; 6]) {
        (self.filters, self.filters_meta) = (filters, filters_meta);
    }
}
