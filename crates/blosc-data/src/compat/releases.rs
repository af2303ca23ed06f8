//! The first release of C-Blosc2 that opens a frame, or of C-Blosc a chunk, by the features that it
//! uses; and the features that no release reads.

use b2frame::{SChunk, header::FrameLayout};
use blosc_chunk::{ChunkHeader, CodecId, Dict, FilterId, Pipeline, SpecialKind, Target};

/// A feature of a frame, and the release that brought it.
type Feature = ((u8, u8, u8), String);

/// `C-Blosc2 2.10.0 or newer (bytedelta)` for a frame of this format version with these parameters.
fn oldest(version: u8, features: impl IntoIterator<Item = Feature>) -> String {
    let base = if version >= 3 { (3, 0, 0) } else { (2, 0, 3) };
    let (mut oldest, mut because) =
        (base, if version >= 3 { vec!["format 3".to_owned()] } else { vec![] });
    for (release, feature) in features {
        if release > oldest {
            (oldest, because) = (release, vec![feature]);
        } else if release == oldest && release > (2, 0, 3) {
            because.push(feature);
        }
    }
    let (major, minor, patch) = oldest;
    let reason =
        if because.is_empty() { String::new() } else { format!(" ({})", because.join(", ")) };
    format!("C-Blosc2 {major}.{minor}.{patch} or newer{reason}")
}

/// The oldest release of C-Blosc2 that opens a frame, or the reason why none does, in words. The
/// header decides; single chunks may use more.
#[must_use]
pub fn opens_frame(schunk: &SChunk) -> String {
    let cparams = schunk.cparams();
    if let Some(few) = of_layout(schunk.layout()) {
        return few.to_owned();
    }
    if let Some(nobody) = dropped_codec(cparams.codec) {
        return nobody;
    }
    let wide =
        (schunk.typesize() > 255).then(|| ((2, 11, 3), "items of more than 255 bytes".to_owned()));
    let ndim = schunk.nd_meta().ok().flatten().map_or(0, |meta| meta.ndim());
    let many = (ndim > 8).then(|| ((2, 21, 3), format!("{ndim} dimensions")));
    let lz4 = matches!(cparams.codec, CodecId::LZ4 | CodecId::LZ4HC);
    let dict =
        (cparams.dict != Dict::None && lz4).then(|| ((3, 0, 0), "LZ4 dictionary".to_owned()));
    let newer = cparams.filters.active().filter_map(|slot| filter(slot.id));
    let features = newer.chain(filters(&cparams.filters)).chain(wide).chain(many).chain(dict);
    let plugin = plugin(cparams.codec).unwrap_or_default();
    oldest(schunk.header().flags().version(), features) + &plugin
}

/// The oldest releases that read a chunk with this header, in words.
#[must_use]
pub fn opens_chunk(header: &ChunkHeader) -> String {
    if header.is_blosc1() {
        return of_blosc1(header);
    }
    let runs = header.is_memcpyed() || header.special().is_some();
    let pipeline = header.pipeline();
    let is_bytedelta = |id| matches!(id, FilterId::BYTEDELTA | FilterId::BYTEDELTA_LEGACY);
    // In a frame, 0 stands for its typesize; a bare chunk does not pass that to the filter.
    if !runs && pipeline.active().any(|slot| slot.meta == 0 && is_bytedelta(slot.id)) {
        return "no C-Blosc2 (bytedelta without its parameter, outside of a frame)".to_owned();
    }
    if let Some(nobody) = dropped_codec(header.codec_id()).filter(|_| !runs) {
        return nobody;
    }
    let lz4 = matches!(header.codec_id(), CodecId::LZ4 | CodecId::LZ4HC);
    let dict = (header.has_dict() && lz4).then(|| ((3, 0, 0), "LZ4 dictionary".to_owned()));
    let vl = header.is_vl().then(|| ((3, 0, 0), "VL-blocks".to_owned()));
    let wide = matches!(header.special(), Some(SpecialKind::Value) if header.cbytes() > 32 + 255)
        .then(|| ((2, 17, 0), "a value of more than 255 bytes".to_owned()));
    let newer = pipeline.active().filter_map(|slot| filter(slot.id));
    let newer = newer.chain(filters(&pipeline)).filter(|_| !runs);
    let plugin = plugin(header.codec_id()).filter(|_| !runs).unwrap_or_default();
    oldest(header.version().min(2), newer.chain(dict).chain(vl).chain(wide)) + &plugin
}

/// The programs that open a frame of an abandoned layout.
fn of_layout(layout: FrameLayout) -> Option<&'static str> {
    match layout {
        FrameLayout::Current => None,
        FrameLayout::Beta1 => Some("C-Blosc2 2.0.0-beta.1 only"),
        FrameLayout::Beta2 => Some("C-Blosc2 2.0.0-beta.2 to -beta.5 only"),
        _ => Some("C-Blosc2 of a few weeks of 2021, never released"),
    }
}

/// A codec that releases of C-Blosc2 do not contain.
fn dropped_codec(id: CodecId) -> Option<String> {
    matches!(id, CodecId::SNAPPY | CodecId::LIZARD)
        .then(|| format!("no release of C-Blosc2 (codec {id})"))
}

/// The release that the order of filters needs: 2.7.0 is the first to undo these two in order.
fn filters(pipeline: &Pipeline) -> Option<Feature> {
    let mut slots = pipeline.active().map(|slot| slot.id);
    let _bitshuffle = slots.find(|id| *id == FilterId::BITSHUFFLE)?;
    let _shuffle = slots.find(|id| *id == FilterId::SHUFFLE)?;
    Some(((2, 7, 0), "bitshuffle before shuffle, which older ones read as other data".to_owned()))
}

/// The release that a filter needs.
fn filter(id: FilterId) -> Option<Feature> {
    let release = match id {
        FilterId::BYTEDELTA_LEGACY => (2, 8, 0),
        FilterId::BYTEDELTA => (2, 10, 0),
        FilterId::INT_TRUNC => (2, 13, 0),
        _ => return None,
    };
    Some((release, id.to_string()))
}

/// Whether all readers of this kind have these filters. For Blosc 1, the library decides.
#[must_use]
pub fn know_filters(pipeline: &Pipeline, target: Target) -> bool {
    let newer = pipeline.active().filter_map(|slot| filter(slot.id)).chain(filters(pipeline));
    target != Target::Blosc2_0 || newer.count() == 0
}

/// The first release of C-Blosc that reads a chunk of Blosc 1.
fn blosc1(header: &ChunkHeader) -> &'static str {
    let filters = header.pipeline();
    match header.codec_id() {
        _ if header.is_memcpyed() || header.nbytes() == 0 => "1.0",
        CodecId::ZSTD => "1.11",
        _ if filters.contains(FilterId::BITSHUFFLE) => "1.7",
        CodecId::BLOSCLZ => "1.0",
        _ => "1.3",
    }
}

/// The programs that read a chunk of Blosc 1.
fn of_blosc1(header: &ChunkHeader) -> String {
    let oldest = blosc1(header);
    let is_coded = !header.is_memcpyed() && header.nbytes() > 0;
    if is_coded && header.codec_id() == CodecId::SNAPPY {
        return format!("C-Blosc {oldest} or newer that was built with Snappy, no C-Blosc2");
    }
    if header.version() == 1 {
        return "C-Blosc 1.0 to 1.13, C-Blosc2".to_owned();
    }
    format!("C-Blosc {oldest} or newer, C-Blosc2, numcodecs, zarrs")
}

/// The name of a codec that is a plugin.
fn plugin(id: CodecId) -> Option<String> {
    (id.0 >= 32).then(|| format!(", with the plugin codec {id}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_that_no_release_reads_are_named() {
        assert_eq!(dropped_codec(CodecId::ZSTD), None);
        let snappy = dropped_codec(CodecId::SNAPPY).unwrap();
        assert_eq!(snappy, "no release of C-Blosc2 (codec snappy)");
        assert_eq!(of_layout(FrameLayout::Current), None);
        assert_eq!(of_layout(FrameLayout::Beta1), Some("C-Blosc2 2.0.0-beta.1 only"));
    }

    #[test]
    fn the_newest_feature_decides() {
        assert_eq!(oldest(2, []), "C-Blosc2 2.0.3 or newer");
        assert_eq!(oldest(2, filter(FilterId::SHUFFLE)), "C-Blosc2 2.0.3 or newer");
        let both = [FilterId::INT_TRUNC, FilterId::BYTEDELTA].into_iter().filter_map(filter);
        assert_eq!(oldest(2, both), "C-Blosc2 2.13.0 or newer (int_trunc)");
        assert_eq!(
            oldest(3, [((3, 0, 0), "dictionary".to_owned())]),
            "C-Blosc2 3.0.0 or newer (format 3, dictionary)"
        );
    }
}
