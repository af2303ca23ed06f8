//! The metadata of the codec, in the spelling of each version of Zarr.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The reason why metadata are refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Fields are missing or unknown.
    #[error("configuration of the codec `blosc`: {0}")]
    Json(#[from] serde_json::Error),
    /// An unknown level.
    #[error("clevel {found}: levels are 0 to 9")]
    Level {
        /// The given level.
        found: u8,
    },
    /// Shuffled items without a size.
    #[error("typesize {found:?}: items that are shuffled have 1 to 255 bytes")]
    TypeSize {
        /// The given size.
        found: Option<usize>,
    },
    /// An unknown number of a shuffle.
    #[error("shuffle {found}: -1 to 2 are known")]
    Shuffle {
        /// The given number.
        found: i64,
    },
}

/// The codec within Blosc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CodecName {
    /// BloscLZ.
    BloscLz,
    /// LZ4.
    Lz4,
    /// LZ4HC.
    Lz4hc,
    /// Snappy.
    Snappy,
    /// zlib.
    Zlib,
    /// Zstandard.
    Zstd,
}

/// How the bytes of items are rearranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Shuffle {
    /// Not at all.
    NoShuffle,
    /// By byte.
    Shuffle,
    /// By bit.
    BitShuffle,
}

/// Parameters of the codec.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// The codec within Blosc.
    pub cname: CodecName,
    /// Level, 0 to 9.
    pub clevel: u8,
    /// How items are shuffled.
    pub shuffle: Shuffle,
    /// Bytes of an item.
    pub typesize: Option<usize>,
    /// Bytes of a block; 0 leaves the choice to the encoder.
    pub blocksize: usize,
    /// The metadata from which this was read, which are written back in the same form.
    pub(crate) written: Written,
}

/// Metadata as they were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    V2(Map<String, Value>),
    V3(Map<String, Value>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldsV3 {
    cname: CodecName,
    clevel: u8,
    #[serde(default = "not_shuffled")]
    shuffle: Shuffle,
    #[serde(default)]
    typesize: Option<usize>,
    #[serde(default)]
    blocksize: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldsV2 {
    #[serde(default = "lz4")]
    cname: CodecName,
    #[serde(default = "level")]
    clevel: u8,
    #[serde(default = "shuffled")]
    shuffle: i64,
    #[serde(default)]
    typesize: Option<usize>,
    #[serde(default)]
    blocksize: usize,
}

const fn not_shuffled() -> Shuffle {
    Shuffle::NoShuffle
}

// The defaults of numcodecs.
const fn lz4() -> CodecName {
    CodecName::Lz4
}

const fn level() -> u8 {
    5
}

const fn shuffled() -> i64 {
    1
}

impl Config {
    /// Reads the `configuration` of the metadata of version 3.
    ///
    /// # Errors
    ///
    /// [`ConfigError`]; shuffled items need `typesize`.
    pub fn from_v3(map: Map<String, Value>) -> Result<Self, ConfigError> {
        let fields: FieldsV3 = serde_json::from_value(Value::Object(map.clone()))?;
        let FieldsV3 { cname, clevel, shuffle, typesize, blocksize } = fields;
        let is_shuffled = shuffle != Shuffle::NoShuffle;
        if is_shuffled && !typesize.is_some_and(|size| (1..=255).contains(&size)) {
            return Err(ConfigError::TypeSize { found: typesize });
        }
        let written = Written::V3(map);
        Self { cname, clevel, shuffle, typesize, blocksize, written }.checked()
    }

    /// Reads the metadata of a compressor of version 2, without its `id`.
    ///
    /// # Errors
    ///
    /// [`ConfigError`].
    pub fn from_v2(map: Map<String, Value>) -> Result<Self, ConfigError> {
        let fields: FieldsV2 = serde_json::from_value(Value::Object(map.clone()))?;
        let FieldsV2 { cname, clevel, shuffle, typesize, blocksize } = fields;
        let shuffle = match (shuffle, typesize) {
            (0, _) => Shuffle::NoShuffle,
            (1, _) => Shuffle::Shuffle,
            (2, _) | (-1, Some(1)) => Shuffle::BitShuffle,
            (-1, _) => Shuffle::Shuffle,
            (found, _) => return Err(ConfigError::Shuffle { found }),
        };
        let written = Written::V2(map);
        Self { cname, clevel, shuffle, typesize, blocksize, written }.checked()
    }

    fn checked(self) -> Result<Self, ConfigError> {
        match self.clevel {
            0..=9 => Ok(self),
            found => Err(ConfigError::Level { found }),
        }
    }

    /// The metadata for version 3; metadata that were read from version 3 stay the same.
    #[must_use]
    pub fn to_v3(&self) -> Map<String, Value> {
        if let Written::V3(map) = &self.written {
            return map.clone();
        }
        let is_sized = self.typesize.is_some_and(|size| (1..=255).contains(&size));
        let shuffle = if is_sized { self.shuffle } else { Shuffle::NoShuffle };
        let mut map = self.common();
        map.insert("shuffle".into(), serde_json::to_value(shuffle).unwrap_or_default());
        map.extend(self.typesize.map(|size| ("typesize".into(), size.into())));
        map
    }

    /// The metadata for version 2; metadata that were read from version 2 stay the same.
    #[must_use]
    pub fn to_v2(&self) -> Map<String, Value> {
        if let Written::V2(map) = &self.written {
            return map.clone();
        }
        let mut map = self.common();
        let shuffle = match self.shuffle {
            Shuffle::NoShuffle => 0,
            Shuffle::Shuffle => 1,
            Shuffle::BitShuffle => 2,
        };
        map.insert("shuffle".into(), shuffle.into());
        map
    }

    fn common(&self) -> Map<String, Value> {
        let cname = serde_json::to_value(self.cname).unwrap_or_default();
        let fields = [
            ("cname", cname),
            ("clevel", self.clevel.into()),
            ("blocksize", self.blocksize.into()),
        ];
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn metadata_come_back_as_they_were() {
        let v3 = json!({"typesize": 4, "cname": "zstd", "clevel": 3, "shuffle": "shuffle", "blocksize": 0});
        let config = Config::from_v3(map(v3.clone())).unwrap();
        assert_eq!(Value::Object(config.to_v3()), v3);
        let v2 = json!({"blocksize": 0, "clevel": 3, "cname": "zstd", "shuffle": 1});
        assert_eq!(Value::Object(config.to_v2()), v2);
        let v2 = json!({"blocksize": 0, "clevel": 5, "cname": "lz4", "shuffle": -1});
        let config = Config::from_v2(map(v2.clone())).unwrap();
        assert_eq!(Value::Object(config.to_v2()), v2);
        // Without the size of items, version 3 has no value for their shuffle.
        assert_eq!(config.to_v3()["shuffle"], json!("noshuffle"));
    }

    #[test]
    fn metadata_that_make_no_sense_are_errors() {
        for bad in [
            json!({"cname": "lz5", "clevel": 5, "shuffle": "noshuffle", "blocksize": 0}),
            json!({"cname": "lz4", "clevel": 10, "shuffle": "noshuffle", "blocksize": 0}),
            json!({"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0}),
            json!({"cname": "lz4", "clevel": 5, "shuffle": "bitshuffle", "typesize": 0}),
            json!({"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 256}),
            json!({"cname": "lz4", "clevel": -1}),
            json!({"cname": "lz4", "clevel": 5, "what": 1}),
            json!({"clevel": 5}),
        ] {
            assert!(Config::from_v3(map(bad.clone())).is_err(), "{bad}");
        }
        for bad in [json!({"shuffle": 3}), json!({"shuffle": -2}), json!({"clevel": 11})] {
            assert!(Config::from_v2(map(bad.clone())).is_err(), "{bad}");
        }
    }

    #[test]
    fn automatic_shuffle_is_by_bit_for_bytes() {
        let of = |json| Config::from_v2(map(json)).unwrap().shuffle;
        assert_eq!(of(json!({"shuffle": -1, "typesize": 1})), Shuffle::BitShuffle);
        assert_eq!(of(json!({"shuffle": -1, "typesize": 8})), Shuffle::Shuffle);
        assert_eq!(of(json!({})), Shuffle::Shuffle);
    }
}
