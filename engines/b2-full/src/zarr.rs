//! Arrays and groups of Zarr in directories, versions 2 and 3.

use core::fmt;
use core::ops::Range;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blosc_data::{Array as AnyArray, ForeignGroup, Opened, Opener};
use blosc_dtype::Dtype;
use serde_json::{Map, Value};
use zarrs::array::{Array, ArrayBytes, ArrayCreateError, ArraySubset};
use zarrs::filesystem::FilesystemStore;

use crate::{split_name, with_dimensions};

/// Opens directories with the metadata of Zarr: `x.zarr`, `x.zarr/a` or `x.zarr::/a`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ZarrOpener;

/// What a directory of Zarr is, by its metadata.
enum Kind {
    Array,
    Group,
}

impl Opener for ZarrOpener {
    fn open(&self, word: &str) -> io::Result<Option<Opened>> {
        let (root, key) = split_name(word);
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
                // A type without a counterpart is told by its name, before zarrs looks for it.
                dtype_of(&metadata_of(&folder)?)?;
                let array = Array::open(store, key).map_err(of_array)?;
                Ok(Some(Opened::Array(Arc::new(ZarrArray::new(array, folder)?))))
            }
            Some(Kind::Group) => Ok(Some(Opened::Group(Arc::new(group_of(root, key, &folder)?)))),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

fn invalid(error: impl fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

fn unsupported(error: impl fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, error.to_string())
}

/// A codec, a grid or an extension that is not known is no damage.
fn of_array(error: ArrayCreateError) -> io::Error {
    match error {
        ArrayCreateError::AdditionalFieldUnsupportedError(_)
        | ArrayCreateError::DataTypeCreateError(_)
        | ArrayCreateError::InvalidFillValueMetadata { .. }
        | ArrayCreateError::UnsupportedZarrV2Array(_)
        | ArrayCreateError::CodecsCreateError(_)
        | ArrayCreateError::StorageTransformersCreateError(_)
        | ArrayCreateError::ChunkGridCreateError(_)
        | ArrayCreateError::ChunkKeyEncodingCreateError(_) => unsupported(error),
        error => invalid(error),
    }
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
    let Some(metadata) = json_of(folder, "zarr.json")? else { return Ok(None) };
    match metadata.get("node_type").and_then(Value::as_str) {
        Some("array") => Ok(Some(Kind::Array)),
        Some("group") => Ok(Some(Kind::Group)),
        _ => Err(invalid("zarr.json: node_type is neither array nor group")),
    }
}

/// The content of a file of metadata, if it is there.
fn json_of(folder: &Path, name: &str) -> io::Result<Option<Value>> {
    let path = folder.join(name);
    if !path.is_file() {
        return Ok(None);
    }
    if path.metadata()?.len() > MAX_METADATA_NBYTES {
        return Err(invalid(format!("{name} is longer than any metadata")));
    }
    let bytes = std::fs::read(path)?;
    serde_json::from_slice(&bytes).map(Some).map_err(|error| invalid(format!("{name}: {error}")))
}

/// The metadata of an array, of either version.
fn metadata_of(folder: &Path) -> io::Result<Value> {
    let metadata = match json_of(folder, ".zarray")? {
        Some(metadata) => Some(metadata),
        None => json_of(folder, "zarr.json")?,
    };
    Ok(metadata.unwrap_or(Value::Null))
}

/// The attributes of a group, of either version.
fn attributes_of(folder: &Path) -> io::Result<Map<String, Value>> {
    let attributes = match folder.join(".zgroup").is_file() {
        true => json_of(folder, ".zattrs")?,
        false => json_of(folder, "zarr.json")?.and_then(|all| all.get("attributes").cloned()),
    };
    match attributes {
        None => Ok(Map::new()),
        Some(Value::Object(attributes)) => Ok(attributes),
        Some(_) => Err(invalid("the attributes are no object")),
    }
}

/// Groups that are within each other.
const MAX_DEPTH: usize = 32;

fn group_of(root: &str, key: &str, folder: &Path) -> io::Result<ForeignGroup> {
    let own = format!("{root}::{}", key.trim_end_matches('/'));
    let mut found = ForeignGroup { format: "zarr", ..ForeignGroup::default() };
    match attributes_of(folder) {
        Ok(attributes) => found.attributes = attributes,
        Err(error) => found.lost.push(format!("all attributes of this group ({error})")),
    }
    collect(&own, "", folder, MAX_DEPTH, &mut found)?;
    found.members.sort_unstable();
    Ok(found)
}

/// Adds what is in a folder. An array is known by its metadata alone, so that one that does not
/// open hides no other.
fn collect(
    own: &str,
    path: &str,
    folder: &Path,
    depth: usize,
    found: &mut ForeignGroup,
) -> io::Result<()> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(invalid(format!("groups within more than {MAX_DEPTH} groups")));
    };
    for entry in std::fs::read_dir(folder)? {
        let inner = entry?.path();
        if !inner.is_dir() {
            continue;
        }
        let name = inner.file_name().unwrap_or_default().to_string_lossy();
        let path = format!("{path}/{name}");
        match kind_of(&inner) {
            // Opening it says what is wrong.
            Ok(Some(Kind::Array)) | Err(_) => found.members.push(format!("{own}{path}")),
            Ok(kind) => {
                if kind.is_some() {
                    match attributes_of(&inner) {
                        Ok(attributes) => drop(found.groups.insert(path.clone(), attributes)),
                        Err(error) => {
                            found
                                .lost
                                .push(format!("all attributes of the group {path} ({error})"));
                        }
                    }
                }
                collect(own, &path, &inner, depth, found)?;
            }
        }
    }
    Ok(())
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
        unsupported(format!("items of the type {name}, which have no counterpart"))
    };
    // Version 2 has the types of NumPy.
    if let Some(dtype) = metadata.get("dtype") {
        let text = dtype.as_str().ok_or_else(|| match dtype {
            Value::Array(_) => self::unsupported("structured items, which have no counterpart"),
            _ => invalid("the dtype is none"),
        })?;
        let known = native(text).parse().ok().filter(|dtype: &Dtype| !dtype.has_objects());
        return known.ok_or_else(|| unsupported(&text));
    }
    let data_type = metadata.get("data_type").unwrap_or(&Value::Null);
    let name = data_type.as_str().or_else(|| data_type.get("name")?.as_str());
    let name = name.ok_or_else(|| invalid("there is no data_type"))?;
    if matches!(name, "structured" | "struct") {
        return Err(self::unsupported("structured items, which have no counterpart"));
    }
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
            let nbytes = bits.parse::<u32>().map_err(|_| unsupported(&name))? / 8;
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
            _ => return Err(unsupported(&name)),
        },
    };
    text.parse().map_err(|_| unsupported(&name))
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

impl AnyArray for ZarrArray {
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

    fn attributes(&self) -> blosc_data::Result<Map<String, Value>> {
        let names = self.metadata.get("dimension_names").and_then(Value::as_array);
        let name = |name: &Value| name.as_str().map(str::to_owned);
        let names = names.into_iter().flatten().map(name).collect();
        Ok(with_dimensions(self.array.attributes().clone(), names))
    }

    fn read_box(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> blosc_data::Result<()> {
        self.items_of_box(bounds, dest).map_err(blosc_data::Error::of_opener)
    }
}

impl ZarrArray {
    /// Fills `dest` with the items of a box.
    fn items_of_box(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> io::Result<()> {
        let subset = ArraySubset::new_with_ranges(bounds);
        let items = self.array.retrieve_array_subset::<ArrayBytes<'static>>(&subset);
        match items.map_err(invalid)? {
            ArrayBytes::Fixed(bytes) if bytes.len() == dest.len() => {
                dest.copy_from_slice(&bytes);
                Ok(())
            }
            _ => Err(unsupported("items of variable length")),
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
        assert!(dtype(json!({})).contains("no data_type"));
    }

    #[test]
    fn types_with_names_of_neighbours_are_refused_by_name() {
        for name in [
            "string",
            "bytes",
            "bfloat16",
            "complex_bfloat16",
            "complex_float16",
            "complex128x",
            "int2",
            "int4",
            "uint2",
            "uint4",
            "int128",
            "float4_e2m1fn",
            "float8_e4m3",
            "float8_e5m2",
            "float8_e8m0fnu",
            "float128",
            "fixed_length_utf32",
            "r12",
            "r",
            "numpy.datetime64x",
        ] {
            for metadata in [json!({"data_type": name}), json!({"data_type": {"name": name}})] {
                let text = format!("items of the type {name}, which have no counterpart");
                assert_eq!(dtype(metadata), text);
            }
        }
        for name in ["|O", "bfloat16", "int4", "<M8[x]"] {
            assert!(
                dtype(json!({"dtype": name})).contains(&format!("type {name}, which")),
                "{name}"
            );
        }
        let fields = json!([["a", "<i4"]]);
        assert!(dtype(json!({"dtype": fields})).starts_with("structured items"));
        let data_type = json!({"name": "structured", "configuration": {"fields": fields}});
        assert!(dtype(json!({"data_type": data_type})).starts_with("structured items"));
    }
}
