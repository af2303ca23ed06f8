//! Which release of C-Blosc2 is the first that opens a frame, or of C-Blosc a chunk, by what it
//! uses; and what no release opens.

use b2frame::header::FrameLayout;
use blosc_chunk::{ChunkHeader, CodecId, FilterId, Pipeline};

/// A feature of a frame, and the release that brought it.
type Feature = ((u8, u8, u8), String);

/// `C-Blosc2 2.10.0 or newer (bytedelta)` for a frame of this format version with these parameters.
pub(crate) fn oldest(version: u8, features: impl IntoIterator<Item = Feature>) -> String {
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

/// Who opens a frame of a layout that was given up.
pub(crate) fn of_layout(layout: FrameLayout) -> Option<&'static str> {
    match layout {
        FrameLayout::Current => None,
        FrameLayout::Beta1 => Some("C-Blosc2 2.0.0-beta.1 only"),
        FrameLayout::Beta2 => Some("C-Blosc2 2.0.0-beta.2 to -beta.5 only"),
        _ => Some("C-Blosc2 of a few weeks of 2021, never released"),
    }
}

/// A codec without which C-Blosc2 was released, whatever else is used.
pub(crate) fn dropped_codec(id: CodecId) -> Option<String> {
    matches!(id, CodecId::SNAPPY | CodecId::LIZARD)
        .then(|| format!("no release of C-Blosc2 (codec {id})"))
}

/// What all filters together ask for: releases before 2.7.0 undo these two in the wrong order.
pub(crate) fn filters(pipeline: &Pipeline) -> Option<Feature> {
    let mut slots = pipeline.active().map(|slot| slot.id);
    let _bitshuffle = slots.find(|id| *id == FilterId::BITSHUFFLE)?;
    let _shuffle = slots.find(|id| *id == FilterId::SHUFFLE)?;
    Some(((2, 7, 0), "bitshuffle before shuffle, which older ones read as other data".to_owned()))
}

/// What a filter asks for.
pub(crate) fn filter(id: FilterId) -> Option<Feature> {
    let release = match id {
        FilterId::BYTEDELTA_LEGACY => (2, 8, 0),
        FilterId::BYTEDELTA => (2, 10, 0),
        FilterId::INT_TRUNC => (2, 13, 0),
        _ => return None,
    };
    Some((release, id.to_string()))
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

/// Who reads a chunk of Blosc 1.
pub(crate) fn of_blosc1(header: &ChunkHeader) -> String {
    let oldest = blosc1(header);
    let is_coded = !header.is_memcpyed() && header.nbytes() > 0;
    if is_coded && header.codec_id() == CodecId::SNAPPY {
        return format!("C-Blosc {oldest} or newer that was built with Snappy, no C-Blosc2");
    }
    format!("C-Blosc {oldest} or newer, C-Blosc2, numcodecs, zarrs")
}

/// A codec that comes as a plugin, by name.
pub(crate) fn plugin(id: CodecId) -> Option<String> {
    (id.0 >= 32).then(|| format!(", with the plugin codec {id}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_release_reads_is_said() {
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
