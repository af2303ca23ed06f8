//! Arrays and groups of Zarr in directories, versions 2 and 3.

use core::fmt;
use core::ops::Range;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use b2_cli::opener::{Opened, OpenedArray, OpenedGroup, Opener};
use blosc_dtype::Dtype;
use serde_json::{Map, Value};
use zarrs::array::{Array, ArrayBytes, ArraySubset};
use zarrs::filesystem::FilesystemStore;
use zarrs::group::Group;
use zarrs::metadata::NodeMetadata;

use crate::split_name;

/// Opens directories with the metadata of Zarr: `x.zarr`, `x.zarr/a` or `x.zarr::/a`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ZarrOpener;

/// What a directory of Zarr is, by its metadata.
enum Kind {
    Array,
    Group,
}

impl Opener for ZarrOpener {
    fn open(&self, name: &Path) -> io::Result<Option<Opened>> {
        let Some(text) = name.to_str() else { return Ok(None) };
        let (root, key) = split_name(text);
        if kind_of(Path::new(root))?.is_none() {
            return Ok(None);
        }
        let key = match key.trim_end_matches('/') {
            "" => "/",
            key => key,
        };
        let folder = Path::new(root).join(key.trim_start_matches('/'));
        let store = Arc::new(FilesystemStore::new(root).map_err(io::Error::other)?);
        zarrs_blosc::register();
        match kind_of(&folder)? {
            Some(Kind::Array) => {
                let array = Array::open(store, key).map_err(invalid)?;
                Ok(Some(Opened::Array(Arc::new(ZarrArray::new(array, folder)?))))
            }
            Some(Kind::Group) => {
                let group = Group::open(store, key).map_err(invalid)?;
                Ok(Some(Opened::Group(Arc::new(group_of(root, &group)?))))
            }
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

fn invalid(error: impl fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

/// Most bytes of metadata that are looked at.
const MAX_METADATA_NBYTES: u64 = 64 << 20;

fn kind_of(folder: &Path) -> io::Result<Option<Kind>> {
    if folder.join(".zarray").is_file() {
        return Ok(Some(Kind::Array));
    }
    if folder.join(".zgroup").is_file() {
        return Ok(Some(Kind::Group));
    }
    let path = folder.join("zarr.json");
    if !path.is_file() {
        return Ok(None);
    }
    if path.metadata()?.len() > MAX_METADATA_NBYTES {
        return Err(invalid("zarr.json is longer than any metadata"));
    }
    let metadata: Value = serde_json::from_slice(&std::fs::read(path)?).map_err(invalid)?;
    match metadata.get("node_type").and_then(Value::as_str) {
        Some("array") => Ok(Some(Kind::Array)),
        Some("group") => Ok(Some(Kind::Group)),
        _ => Err(invalid("zarr.json: node_type is neither array nor group")),
    }
}

fn group_of(root: &str, group: &Group<FilesystemStore>) -> io::Result<OpenedGroup> {
    let nodes = group.traverse().map_err(invalid)?;
    let arrays = nodes.iter().filter(|(_, metadata)| matches!(metadata, NodeMetadata::Array(_)));
    let mut members: Vec<String> =
        arrays.map(|(path, _)| format!("{root}::{}", path.as_str())).collect();
    members.sort_unstable();
    Ok(OpenedGroup { format: "zarr", members, attributes: group.attributes().clone() })
}

struct ZarrArray {
    array: Array<FilesystemStore>,
    folder: PathBuf,
    dtype: Dtype,
    chunkshape: Vec<u64>,
    metadata: Value,
}

impl fmt::Debug for ZarrArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZarrArray").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl ZarrArray {
    fn new(array: Array<FilesystemStore>, folder: PathBuf) -> io::Result<Self> {
        let metadata = serde_json::to_value(array.metadata()).map_err(invalid)?;
        let dtype = dtype_of(&metadata)?;
        let first = vec![0; array.dimensionality()];
        let chunkshape = match array.chunk_shape(&first) {
            Ok(shape) => shape.iter().map(|len| len.get()).collect(),
            // An array without items has no chunk.
            Err(_) => vec![],
        };
        Ok(Self { array, folder, dtype, chunkshape, metadata })
    }
}

/// The type of the items as zarrs gives them, which is in the order of this machine.
fn dtype_of(metadata: &Value) -> io::Result<Dtype> {
    let unsupported = |name: &dyn fmt::Display| {
        let text = format!("items of the type {name} have no counterpart");
        io::Error::new(io::ErrorKind::Unsupported, text)
    };
    // Version 2 has the types of NumPy.
    if let Some(dtype) = metadata.get("dtype") {
        let text = dtype.as_str().ok_or_else(|| unsupported(dtype))?;
        return native(text).parse().map_err(|_| unsupported(dtype));
    }
    let data_type = metadata.get("data_type").unwrap_or(&Value::Null);
    let name = data_type.as_str().or_else(|| data_type.get("name")?.as_str());
    let name = name.ok_or_else(|| unsupported(data_type))?;
    let configured = |key: &str| data_type.get("configuration").and_then(|map| map.get(key));
    let text = match name {
        "bool" => "|b1".to_owned(),
        "int8" => "|i1".to_owned(),
        "uint8" => "|u1".to_owned(),
        "int16" | "int32" | "int64" | "uint16" | "uint32" | "uint64" | "float16" | "float32"
        | "float64" | "complex64" | "complex128" => {
            let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
            let (kind, bits) = name.split_at(digits);
            let letter = kind.get(..1).unwrap_or_default();
            let nbytes = bits.parse::<u32>().map_err(|_| unsupported(data_type))? / 8;
            native(&format!("<{letter}{nbytes}"))
        }
        "numpy.datetime64" | "numpy.timedelta64" => {
            let letter = if name == "numpy.datetime64" { "M8" } else { "m8" };
            let unit = configured("unit").and_then(Value::as_str).unwrap_or("generic");
            match (unit, configured("scale_factor").and_then(Value::as_u64).unwrap_or(1)) {
                ("generic", _) => native(&format!("<{letter}")),
                (unit, 1) => native(&format!("<{letter}[{unit}]")),
                (unit, factor) => native(&format!("<{letter}[{factor}{unit}]")),
            }
        }
        _ => match name.strip_prefix('r').and_then(|bits| bits.parse::<u32>().ok()) {
            Some(bits) if bits.is_multiple_of(8) => format!("|V{}", bits / 8),
            _ => return Err(unsupported(data_type)),
        },
    };
    text.parse().map_err(|_| unsupported(data_type))
}

/// A type code in the order of this machine.
fn native(code: &str) -> String {
    let order = if cfg!(target_endian = "big") { '>' } else { '<' };
    match code.strip_prefix(['<', '>', '=']) {
        Some(rest) => format!("{order}{rest}"),
        None => code.to_owned(),
    }
}

/// The name of a codec, and that of the one within it.
fn codec_name(codec: &Value) -> Option<String> {
    let name = codec.get("name").or_else(|| codec.get("id"))?.as_str()?;
    let configuration = codec.get("configuration").unwrap_or(codec);
    Some(match configuration.get("cname").and_then(Value::as_str) {
        Some(inner) => format!("{name} ({inner})"),
        None => name.to_owned(),
    })
}

impl OpenedArray for ZarrArray {
    fn format(&self) -> &'static str {
        "zarr"
    }

    fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    fn shape(&self) -> &[u64] {
        self.array.shape()
    }

    fn chunkshape(&self) -> &[u64] {
        &self.chunkshape
    }

    fn pipeline(&self) -> String {
        let list = |key: &str| self.metadata.get(key).and_then(Value::as_array);
        let filters = list("codecs").or_else(|| list("filters")).into_iter().flatten();
        let codecs: Vec<String> =
            filters.chain(self.metadata.get("compressor")).filter_map(codec_name).collect();
        if codecs.is_empty() { "no codec".to_owned() } else { codecs.join(" -> ") }
    }

    fn stored_nbytes(&self) -> Option<u64> {
        let metadata = ["zarr.json", ".zarray", ".zattrs"];
        let (mut waiting, mut nbytes) = (vec![self.folder.clone()], 0_u64);
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(folder).ok()? {
                let entry = entry.ok()?;
                let kind = entry.file_type().ok()?;
                if kind.is_dir() {
                    waiting.push(entry.path());
                } else if !metadata.iter().any(|name| entry.file_name() == *name) {
                    nbytes = nbytes.saturating_add(entry.metadata().ok()?.len());
                }
            }
        }
        Some(nbytes)
    }

    fn attributes(&self) -> Map<String, Value> {
        self.array.attributes().clone()
    }

    fn read(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> io::Result<()> {
        let subset = ArraySubset::new_with_ranges(bounds);
        let items = self.array.retrieve_array_subset::<ArrayBytes<'static>>(&subset);
        match items.map_err(invalid)? {
            ArrayBytes::Fixed(bytes) if bytes.len() == dest.len() => {
                dest.copy_from_slice(&bytes);
                Ok(())
            }
            _ => Err(invalid("items of variable length")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn dtype(metadata: Value) -> String {
        dtype_of(&metadata).map_or_else(|error| error.to_string(), |dtype| dtype.to_string())
    }

    #[test]
    fn types_of_both_versions_are_those_of_numpy_on_this_machine() {
        assert_eq!(dtype(json!({"dtype": ">f4"})), "<f4");
        assert_eq!(dtype(json!({"dtype": "|b1"})), "|b1");
        assert_eq!(dtype(json!({"dtype": "<M8[ns]"})), "<M8[ns]");
        assert_eq!(dtype(json!({"data_type": "complex64"})), "<c8");
        assert_eq!(dtype(json!({"data_type": "r24"})), "|V3");
        let time =
            json!({"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 10}});
        assert_eq!(dtype(json!({"data_type": time})), "<M8[10s]");
        for bad in [json!({"data_type": "string"}), json!({"dtype": [["a", "<i4"]]}), json!({})] {
            assert!(dtype(bad.clone()).contains("no counterpart"), "{bad}");
        }
    }
}
