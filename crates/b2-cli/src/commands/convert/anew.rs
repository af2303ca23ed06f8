//! How data are compressed that cannot be moved, or for which it was asked.

use std::path::Path;

use b2frame::{Checksums, SChunkWriter};
use blosc_chunk::{
    CParams, CodecId, FilterId, Level, Pipeline, Registries, SplitMode, Target as Reader,
};

use bloscpack::Checksum;

use super::Work;
use crate::{
    args::{ChecksumChoice, ConvertArgs, ConvertedFormat},
    error::{Error, Result, message},
    memory,
    report::readers,
};

/// What makes no sense for any input.
pub(super) fn check(args: &ConvertArgs, format: ConvertedFormat) -> Result<()> {
    let is_blp = format == ConvertedFormat::Blp;
    let is_store = matches!(format, ConvertedFormat::B2z | ConvertedFormat::B2d);
    if is_store && args.output.rm {
        return Err(message::STORE_KEEPS_INPUT.error());
    }
    let fits = |choice: ChecksumChoice| match format {
        ConvertedFormat::Blp => choice.digest().is_some(),
        ConvertedFormat::B2frame
        | ConvertedFormat::Sframe
        | ConvertedFormat::B2nd
        | ConvertedFormat::Carray
        | ConvertedFormat::Ctable => choice.seal().is_some(),
        _ => choice == ChecksumChoice::None,
    };
    if !args.checksum.is_none_or(fits) {
        return Err(message::NO_CHECKSUM.about(format.name()));
    }
    let registries = Registries::default();
    let lossy = args.anew.filter.filter(|filter| filter.is_lossy(&registries.filters));
    if let Some(filter) = lossy {
        return Err(message::LOSSY_CONVERT.about(format!("the filter {filter}")));
    }
    let codec = args.anew.codec.and_then(|choice| registries.codecs.get(choice.id));
    if let Some(codec) = codec.filter(|codec| codec.is_lossy()) {
        return Err(message::LOSSY_CONVERT.about(format!("the codec {}", codec.name())));
    }
    let holds_data = matches!(
        format,
        ConvertedFormat::Raw
            | ConvertedFormat::Npy
            | ConvertedFormat::Csv
            | ConvertedFormat::Parquet
    );
    if holds_data && (args.anew.is_wanted() || args.anew.target.is_some()) {
        return Err(message::NOT_COMPRESSED.about(format.name()));
    }
    if format == ConvertedFormat::Chunk && args.anew.chunk_size.is_some() {
        return Err(message::ONE_CHUNK.error());
    }
    if let (Some(target), Some(filter)) = (args.anew.target, &args.anew.filter)
        && !readers::know_filters(filter, target)
    {
        return Err(message::FILTER_FOR_TARGET.about(target));
    }
    match args.anew.target {
        Some(target) if matches!(format, ConvertedFormat::Carray | ConvertedFormat::Ctable) => {
            Err(Error::FormatForTarget { format: format.name(), target })
        }
        Some(target)
            if format != ConvertedFormat::Chunk && (target < Reader::Blosc2_0) != is_blp =>
        {
            Err(Error::FormatForTarget { format: format.name(), target })
        }
        _ => Ok(()),
    }
}

impl Work<'_> {
    /// Must chunks be looked at, or made, that could be copied otherwise?
    pub(super) fn is_anew(&self) -> bool {
        self.args.anew.is_wanted() || self.args.anew.target.is_some()
    }

    /// The requested sums of a frame, an array or a data set of bcolz.
    pub(super) fn seal(&self) -> Option<Checksums> {
        // The seal of a frame can tell of damage; these sums are of single files.
        let is_bcolz = matches!(self.format, ConvertedFormat::Carray | ConvertedFormat::Ctable);
        let unchecked = self.args.checks.no_check && is_bcolz;
        unchecked
            .then_some(Checksums::None)
            .or_else(|| self.args.checksum.and_then(ChecksumChoice::seal))
    }

    /// Compares the input, all of which was read, with its seals. A frame at `path` that was made
    /// in spite of a mismatch gets a seal that does not match.
    pub(super) fn compare_input(&self, path: &Path) -> Result<()> {
        self.source.compare_seals()?;
        if self.cx.read_params().mismatch.is_noted() {
            let mut writer =
                SChunkWriter::open_with(path, &self.cx.edit_options(path, 0, self.args.lock))?;
            writer.spoil_seal()?;
            writer.commit()?;
        }
        Ok(())
    }

    /// The requested digests of a Bloscpack file.
    pub(super) fn digest_kind(&self) -> Option<Checksum> {
        let unchecked = self.args.checks.no_check.then_some(Checksum::None);
        unchecked.or_else(|| self.args.checksum.and_then(ChecksumChoice::digest))
    }

    /// The parameters of the input, as far as the output can have them, with those that were asked
    /// for.
    pub(super) fn cparams(&self) -> Result<CParams> {
        let anew = &self.args.anew;
        let target = anew.target.unwrap_or(match self.format {
            ConvertedFormat::Blp => Reader::Blosc1_14,
            _ => Reader::Blosc2_0,
        });
        let mut old = fitting(self.old()?, target);
        if anew.target.is_some() && !readers::know_filters(&old.filters, target) {
            old = old.filters(Pipeline::SHUFFLE);
        }
        let codec = match anew.codec {
            Some(choice) => (choice.id, choice.meta),
            None if anew.level.fast => (CodecId::LZ4, 0),
            None => (old.codec, old.codec_meta),
        };
        let level = if anew.level.given { anew.level.level } else { old.clevel };
        let block_size = anew.block_size.map(|size| memory::as_len(size.0));
        Ok(CParams::default()
            .codec(codec.0)
            .codec_meta(codec.1)
            .clevel(level)
            .typesize(self.source.typesize())
            .filters(anew.filter.unwrap_or(old.filters))
            .blocksize(block_size)
            .split(old.split)
            .target(target)
            .registries(self.cx.registries()))
    }

    /// How the input is compressed.
    fn old(&self) -> Result<CParams> {
        if let Some(schunk) = self.source.frame() {
            return Ok(schunk.cparams());
        }
        let plain = CParams::default().codec(CodecId::ZSTD);
        Ok(match self.source.first_header()? {
            Some(header) => plain.codec(header.codec_id()).filters(header.pipeline()),
            None => plain,
        })
    }
}

/// Codecs and filters that these readers do not know are replaced by the nearest.
fn fitting(old: CParams, target: Reader) -> CParams {
    let registries = Registries::default();
    let is_blosc1 = target < Reader::Blosc2_0;
    let fits = |id: FilterId| {
        registries.filters.get(id).is_some_and(|filter| !filter.is_lossy())
            && (!is_blosc1 || matches!(id, FilterId::SHUFFLE | FilterId::BITSHUFFLE))
    };
    let (mut ids, mut metas) = ([0; 6], [0; 6]);
    let slots: Vec<_> = old.filters.active().filter(|slot| fits(slot.id)).collect();
    // Blosc 1 has one filter.
    let kept = if is_blosc1 { slots.len().min(1) } else { slots.len() };
    for (slot, nslot) in slots.iter().rev().take(kept).zip((0..6).rev()) {
        (ids[nslot], metas[nslot]) = (slot.id.0, if is_blosc1 { 0 } else { slot.meta });
    }
    let is_known = registries.codecs.get(old.codec).is_some_and(|codec| !codec.is_lossy())
        && (!is_blosc1 || old.codec <= CodecId::ZSTD)
        && (is_blosc1 || old.codec != CodecId::SNAPPY);
    let codec = if is_known { (old.codec, old.codec_meta) } else { (CodecId::ZSTD, 0) };
    let split = if is_blosc1 { SplitMode::ForwardCompat } else { old.split };
    let level = if old.clevel == Level::NONE { Level::DEFAULT } else { old.clevel };
    old.filters(Pipeline::from_slots(ids, metas))
        .codec(codec.0)
        .codec_meta(codec.1)
        .split(split)
        .clevel(level)
}
