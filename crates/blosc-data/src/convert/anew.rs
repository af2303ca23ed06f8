//! Compression of data that cannot be moved, or that the settings change.

use blosc_chunk::{
    CParams, CodecId, FilterId, Level, Pipeline, Registries, SplitMode, Target as Reader,
};

use b2store::TableParams;

use super::{Conversion, OutputFormat, whole::rows_of};
use crate::error::{Refusal, Result};
use crate::size::as_len;

/// The name of a table in a store in messages.
const TABLE: &str = "table in a store";

impl Conversion<'_> {
    /// Whether chunks must be read or made, instead of copied.
    pub(super) fn is_anew(&self) -> bool {
        self.settings.compression.is_wanted() || self.settings.compression.target.is_some()
    }

    /// The parameters of the input, as far as the output can have them, changed by the settings.
    pub(super) fn cparams(&self) -> Result<CParams> {
        self.old().map(|old| self.cparams_after(old))
    }

    /// The storage of the columns of a new table: as `compress` stores data, whatever the input is.
    pub(super) fn table_params(&self) -> Result<TableParams> {
        let anew = &self.settings.compression;
        if anew.has_sizes() {
            return Err(Refusal::RowsOfTable.into());
        }
        let codec = anew.codec.map(|codec| codec.0);
        check_dimensions(codec, &anew.filters.unwrap_or_default(), None, Some(TABLE))?;
        let mut params = TableParams::default()
            .cparams(self.cparams_after(CParams::default().codec(CodecId::ZSTD)));
        params.chunk_rows = rows_of(&anew.chunkshape)?;
        params.block_rows = rows_of(&anew.blockshape)?;
        params.checksums = self.settings.checksums;
        Ok(params)
    }

    /// The parameters, changed by the settings.
    fn cparams_after(&self, old: CParams) -> CParams {
        let anew = &self.settings.compression;
        let target = anew.target.unwrap_or(match self.settings.format {
            OutputFormat::Blp => Reader::Blosc1_14,
            _ => Reader::Blosc2_0,
        });
        let mut old = fitting(old, target);
        if anew.target.is_some() && !know_filters(&old.filters, target) {
            old = old.filters(Pipeline::SHUFFLE);
        }
        let codec = match anew.codec {
            Some(codec) => codec,
            None if anew.is_fast => (CodecId::LZ4, 0),
            None => (old.codec, old.codec_meta),
        };
        let level = anew.level.unwrap_or(old.clevel);
        let block_size = anew.block_nbytes.map(as_len);
        CParams::default()
            .codec(codec.0)
            .codec_meta(codec.1)
            .clevel(level)
            .typesize(self.content.typesize())
            .filters(anew.filters.unwrap_or(old.filters))
            .blocksize(block_size)
            .split(old.split)
            .target(target)
            .registries(self.settings.open.dparams.registries.clone())
    }

    /// The compression of the input.
    fn old(&self) -> Result<CParams> {
        if let Some(schunk) = self.content.frame() {
            return Ok(schunk.cparams());
        }
        let plain = CParams::default().codec(CodecId::ZSTD);
        Ok(match self.content.first_header()? {
            Some(header) => plain.codec(header.codec_id()).filters(header.pipeline()),
            None => plain,
        })
    }
}

/// Replaces codecs and filters that these readers lack by the nearest ones.
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

/// Whether all readers of this kind have these filters. For Blosc 1, the library decides. Releases
/// of C-Blosc2 before 2.7.0 undo bitshuffle and shuffle in the wrong order.
#[must_use]
pub fn know_filters(pipeline: &Pipeline, target: Reader) -> bool {
    const NEWER: [FilterId; 3] =
        [FilterId::BYTEDELTA_LEGACY, FilterId::BYTEDELTA, FilterId::INT_TRUNC];
    let ids: Vec<FilterId> = pipeline.active().map(|slot| slot.id).collect();
    let mut turned = ids.iter().skip_while(|id| **id != FilterId::BITSHUFFLE);
    let is_new = ids.iter().any(|id| NEWER.contains(id));
    target != Reader::Blosc2_0 || !is_new && !turned.any(|id| *id == FilterId::SHUFFLE)
}

/// Refuses codecs and filters for neighbours in several dimensions, if the data have no shape or
/// the format holds none.
///
/// # Errors
///
/// [`Refusal::IsForArrays`], [`Refusal::FormatWithoutShape`], [`Refusal::IsForTwoDimensions`].
pub fn check_dimensions(
    codec: Option<CodecId>,
    filters: &Pipeline,
    shape: Option<&[u64]>,
    format: Option<&str>,
) -> Result<()> {
    let codec = codec.filter(|id| {
        [CodecId::NDLZ, CodecId::ZFP_ACC, CodecId::ZFP_PREC, CodecId::ZFP_RATE].contains(id)
    });
    let filter = filters.active().map(|slot| slot.id);
    let filter = filter.into_iter().find(|id| [FilterId::NDCELL, FilterId::NDMEAN].contains(id));
    let name = codec.map(|id| id.to_string()).or_else(|| filter.map(|id| id.to_string()));
    let Some(name) = name else { return Ok(()) };
    match (shape, format) {
        (_, Some(format)) => Err(Refusal::FormatWithoutShape(format!(
            "{name} needs the shape of an array, and a .{format} file"
        ))
        .into()),
        (None, None) => Err(Refusal::IsForArrays(name).into()),
        (Some(shape), None) if codec == Some(CodecId::NDLZ) && shape.len() != 2 => {
            Err(Refusal::IsForTwoDimensions(name).into())
        }
        (Some(_), None) => Ok(()),
    }
}
