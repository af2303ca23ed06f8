//! The codecs of an array as a list of version 3 that zarrs reads.
//!
//! ```text
//! version 2   order, dtype,  filters,  compressor     \
//! version 3   [transpose], filters, bytes, compressors > transpose, bytes, filters, compressors
//! ```
//!
//! Filters of numcodecs work on items in memory order. They become codecs of bytes
//! ([`Filter`](super::filters::Filter)), which come after the codec that turns items into bytes.

use std::io;

use blosc_dtype::Dtype;
use serde_json::{Map, Value, json};

use super::filters;
use super::items::{Items, name_of};
use super::unsupported;

/// The name of the codec of Blosc2 in `zarrs-blosc`.
const BLOSC2: &str = "blosc-rs.blosc2";

/// The counterpart of a codec of numcodecs.
enum Codec {
    /// None: the reader need not change the items.
    None,
    /// A codec of items.
    OfItems(Value),
    /// A codec that turns items of any length into bytes.
    OfText(Value),
    /// A codec of bytes.
    OfBytes(Value),
}

/// The codecs of metadata of version 2.
///
/// # Errors
///
/// Filters that do not fit the items.
pub(super) fn of_v2(metadata: &Value, items: &Items, ndim: usize) -> io::Result<Vec<Value>> {
    let mut chain = Chain::new(items);
    if metadata.get("order").and_then(Value::as_str) == Some("F") && ndim > 1 {
        let order: Vec<usize> = (0..ndim).rev().collect();
        chain.codecs.push(json!({"name": "transpose", "configuration": {"order": order}}));
    }
    let filters = metadata.get("filters").and_then(Value::as_array).into_iter().flatten();
    let compressor = metadata.get("compressor").filter(|compressor| !compressor.is_null());
    let mut codecs = filters.chain(compressor).peekable();
    if let Items::Fixed(_) = items {
        let endian = if items.is_big() { "big" } else { "little" };
        chain.codecs.push(json!({"name": "bytes", "configuration": {"endian": endian}}));
    } else if codecs.peek().is_none() {
        return Err(unsupported("items of any length without a codec for them"));
    }
    for codec in codecs {
        let id = codec.get("id").and_then(Value::as_str).unwrap_or("without a name");
        match numcodec(id, codec, chain.dtype.as_ref())? {
            Codec::None => {}
            Codec::OfItems(codec) | Codec::OfText(codec) | Codec::OfBytes(codec) => {
                chain.codecs.push(codec);
            }
        }
    }
    Ok(chain.codecs)
}

/// The codecs of metadata of version 3.
///
/// # Errors
///
/// Filters at a position where zarrs cannot replace them.
pub(super) fn of_v3(codecs: &Value, items: &Items) -> io::Result<Vec<Value>> {
    let mut chain = Chain::new(items);
    for codec in codecs.as_array().into_iter().flatten() {
        chain.add(codec)?;
    }
    Ok(chain.codecs)
}

/// The codecs so far.
struct Chain<'a> {
    items: &'a Items,
    /// The type of items of one size.
    dtype: Option<Dtype>,
    codecs: Vec<Value>,
    /// Filters that wait for the codec that turns items into bytes.
    waiting: Vec<Value>,
}

impl<'a> Chain<'a> {
    fn new(items: &'a Items) -> Self {
        let dtype = match items {
            Items::Fixed(dtype) => Some(dtype.clone()),
            _ => None,
        };
        Self { items, dtype, codecs: vec![], waiting: vec![] }
    }

    fn add(&mut self, codec: &Value) -> io::Result<()> {
        let name = name_of(codec).unwrap_or_default();
        let empty = json!({});
        let configuration = codec.get("configuration").unwrap_or(&empty);
        let numcodecs = name.strip_prefix("numcodecs.").or_else(|| {
            let is_other = name.starts_with("imagecodecs_");
            is_other.then_some(name)
        });
        if let Some(id) = numcodecs {
            match numcodec(id, configuration, self.dtype.as_ref())? {
                Codec::None => {}
                Codec::OfItems(filter) => self.waiting.push(filter),
                Codec::OfText(codec) | Codec::OfBytes(codec) => self.codecs.push(codec),
            }
            return Ok(());
        }
        let is_text = matches!(name, "vlen-utf8" | "vlen-bytes");
        let configuration = match name {
            "gzip" => json!({"level": 5}),
            "zstd" => zstd(configuration),
            "sharding_indexed" => self.shards(configuration)?,
            "bytes" if self.is_big_record(configuration) => {
                return Err(unsupported("structured items with the last byte first"));
            }
            _ => configuration.clone(),
        };
        let is_own = !self.waiting.is_empty() && name != "bytes";
        if is_own || (!self.waiting.is_empty() && is_big(&configuration)) {
            return Err(unsupported(format!("the codec {name} after a filter of items")));
        }
        self.codecs.push(match is_text || configuration == empty {
            true => json!({"name": name}),
            false => json!({"name": name, "configuration": configuration}),
        });
        self.codecs.append(&mut self.waiting);
        Ok(())
    }

    /// The configuration of shards, which contain codecs.
    fn shards(&self, configuration: &Value) -> io::Result<Value> {
        let mut configuration = configuration.clone();
        if let Some(map) = configuration.as_object_mut() {
            for key in ["codecs", "index_codecs"] {
                if let Some(codecs) = map.get(key) {
                    let codecs = of_v3(codecs, self.items)?;
                    map.insert(key.to_owned(), codecs.into());
                }
            }
        }
        Ok(configuration)
    }

    /// Whether the items are big-endian records: no type of zarrs describes them.
    fn is_big_record(&self, configuration: &Value) -> bool {
        let has_fields = self.dtype.as_ref().is_some_and(|dtype| !dtype.fields().is_empty());
        has_fields && is_big(configuration)
    }
}

fn is_big(configuration: &Value) -> bool {
    configuration.get("endian").and_then(Value::as_str) == Some("big")
}

/// The configuration of Zstandard: other programs omit the checksum by default.
fn zstd(configuration: &Value) -> Value {
    let has_checksum = configuration.get("checksum").and_then(Value::as_bool).unwrap_or(false);
    json!({"level": 1, "checksum": has_checksum})
}

/// A codec of numcodecs, or of imagecodecs, by its id and its metadata. A reader ignores the level
/// of a compressor.
fn numcodec(id: &str, metadata: &Value, dtype: Option<&Dtype>) -> io::Result<Codec> {
    let named =
        |name: &str, configuration: Value| json!({"name": name, "configuration": configuration});
    let own = || {
        let mut map: Map<String, Value> = metadata.as_object().cloned().unwrap_or_default();
        map.remove("id");
        Value::from(map)
    };
    Ok(match id {
        "blosc" => Codec::OfBytes(named("numcodecs.blosc", own())),
        "imagecodecs_blosc" | "imagecodecs_blosc2" | "imagecodecs_b2nd" => {
            let any = json!({"cname": "lz4", "clevel": 5, "shuffle": "noshuffle", "blocksize": 0});
            Codec::OfBytes(named(BLOSC2, any))
        }
        "zstd" | "imagecodecs_zstd" => Codec::OfBytes(named("zstd", zstd(metadata))),
        "gzip" => Codec::OfBytes(named("gzip", json!({"level": 5}))),
        "zlib" => Codec::OfBytes(named("numcodecs.zlib", json!({"level": 5}))),
        "crc32c" if metadata.get("location").is_none_or(|place| place == "end") => {
            Codec::OfBytes(json!({"name": "crc32c"}))
        }
        "fletcher32" => Codec::OfBytes(json!({"name": "numcodecs.fletcher32"})),
        "shuffle" => Codec::OfBytes(named("numcodecs.shuffle", own())),
        "vlen-utf8" | "vlen-bytes" => Codec::OfText(json!({"name": id})),
        // Rounded numbers need no decoding.
        "bitround" => Codec::None,
        id => match filters::of_numcodecs(id, metadata, dtype)? {
            Some(Value::Null) => Codec::None,
            Some(configuration) => Codec::OfItems(named(filters::NAME, configuration)),
            None => Codec::OfBytes(json!({"name": id})),
        },
    })
}
