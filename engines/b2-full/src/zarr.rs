//! Arrays and groups of Zarr in directories and zip archives, versions 2 and 3.
//!
//! ```text
//! metadata --json, items, codecs--> metadata of version 3 --zarrs--> items
//! ```
//!
//! zarrs reads metadata of version 3: the opener rewrites all metadata in this form, with names,
//! spellings and filters that zarrs knows.

mod codecs;
mod files;
mod filters;
mod items;
mod lenient;
mod zip;

use core::fmt;
use core::ops::Range;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use blosc_data::verify::{OnProgress, Report, VerifyOptions};
use blosc_data::{Array as AnyArray, ForeignGroup, Opened, Opener};
use blosc_dtype::Dtype;
use blosc_io::FileStore;
use blosc_io::tree::DirTree;
use serde_json::{Map, Value, json};
use zarrs::array::{
    Array, ArrayBytes, ArrayCreateError, ArrayError, ArrayMetadata, ArraySubset, CodecError,
};
use zarrs::storage::{ReadableStorageTraits as _, StorageError};

use crate::chunks::Findings;
use crate::text::{About, TextArray};
use crate::{split_name, with_dimensions};
use files::{Files, Kind, within};
use items::{Items, name_of};
use zip::ZipTree;

/// Opens directories and archives with the metadata of Zarr: `x.zarr`, `x.zarr/a`, `x.zarr::/a`,
/// `x.zarr.zip::/a`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ZarrOpener;

impl Opener for ZarrOpener {
    fn open(&self, word: &str) -> io::Result<Option<Opened>> {
        let (root, key) = split_name(word);
        match files_at(Path::new(root))? {
            Some(files) => open_in(&files, root, key).map(Some),
            None => Ok(None),
        }
    }

    fn kind_name(&self) -> Option<&'static str> {
        Some("Zarr")
    }
}

/// The files at a path, if it has metadata of Zarr.
fn files_at(path: &Path) -> io::Result<Option<Files>> {
    if path.is_dir() {
        let files = Files(Arc::new(DirTree::new(path)));
        return Ok(files.kind_of("")?.map(|_| files));
    }
    let mut head = [0; zip::SIGNATURE.len()];
    let begins = path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok()
        && head == zip::SIGNATURE;
    if !begins {
        return Ok(None);
    }
    // A damaged archive may have any format, so other openers report it.
    let archive = ZipTree::open(FileStore::open(path)?).ok().flatten();
    Ok(archive.map(|archive| Files(Arc::new(archive))))
}

/// Opens the array or group at a key in the files at `root`.
fn open_in(files: &Files, root: &str, key: &str) -> io::Result<Opened> {
    let folder = key.trim_matches('/');
    Ok(match files.kind_of(folder)? {
        Some(Kind::Array) => open_array(files, folder)?,
        Some(Kind::Group) => Opened::Group(Arc::new(group_of(files, root, folder)?)),
        None => return Err(io::ErrorKind::NotFound.into()),
    })
}

fn invalid(error: impl fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

fn unsupported(error: impl fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, error.to_string())
}

/// A file that the system refuses to read is not damaged, and neither is one of another kind.
fn of_storage(error: &io::Error) -> io::Error {
    let kind = match (error.kind(), error.raw_os_error()) {
        (io::ErrorKind::Unsupported, _) => io::ErrorKind::Unsupported,
        (kind, Some(_)) => kind,
        _ => io::ErrorKind::InvalidData,
    };
    io::Error::new(kind, error.to_string())
}

/// An unknown codec, grid or extension is not damage.
fn of_array(error: ArrayCreateError) -> io::Error {
    match error {
        ArrayCreateError::StorageError(StorageError::IOError(error)) => of_storage(&error),
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

/// The first read of a chunk reports a codec that does not fit the items.
fn of_chunk(error: ArrayError) -> io::Error {
    match error {
        ArrayError::CodecError(
            CodecError::UnsupportedDataType { .. } | CodecError::UnsupportedDataTypeCodec { .. },
        ) => unsupported(error),
        ArrayError::StorageError(StorageError::IOError(error))
        | ArrayError::CodecError(CodecError::StorageError(StorageError::IOError(error))) => {
            of_storage(&error)
        }
        error => invalid(error),
    }
}

/// Greatest depth of groups.
const MAX_DEPTH: usize = 32;

fn group_of(files: &Files, root: &str, folder: &str) -> io::Result<ForeignGroup> {
    let own = if folder.is_empty() { format!("{root}::") } else { format!("{root}::/{folder}") };
    let mut found = ForeignGroup { format: "zarr", ..ForeignGroup::default() };
    match files.attributes_of(folder) {
        Ok(attributes) => found.attributes = attributes,
        Err(error) => found.lost.push(format!("all attributes of this group ({error})")),
    }
    collect(files, (&own, ""), folder, MAX_DEPTH, &mut found)?;
    found.members.sort_unstable();
    Ok(found)
}

/// Adds the members of a folder at `path` in the group `own`. Metadata alone identify an array, so
/// that one that does not open hides no other.
fn collect(
    files: &Files,
    (own, path): (&str, &str),
    folder: &str,
    depth: usize,
    found: &mut ForeignGroup,
) -> io::Result<()> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(invalid(format!("groups within more than {MAX_DEPTH} groups")));
    };
    for name in files.folders_in(folder)? {
        let inner = within(folder, &name);
        let path = format!("{path}/{name}");
        match files.kind_of(&inner) {
            // Opening the member reports the error.
            Ok(Some(Kind::Array)) | Err(_) => found.members.push(format!("{own}{path}")),
            Ok(kind) => {
                if kind.is_some() {
                    match files.attributes_of(&inner) {
                        Ok(attributes) => drop(found.groups.insert(path.clone(), attributes)),
                        Err(error) => {
                            found
                                .lost
                                .push(format!("all attributes of the group {path} ({error})"));
                        }
                    }
                }
                collect(files, (own, &path), &inner, depth, found)?;
            }
        }
    }
    Ok(())
}

/// The metadata of version 3 by which zarrs reads an array.
fn readable(metadata: &Value, items: &Items) -> io::Result<Value> {
    let shape = metadata.get("shape").map_or(Value::Null, lenient::counts);
    let fill_value = items.fill_value(metadata.get("fill_value").unwrap_or(&Value::Null))?;
    if metadata.get("dtype").is_none() {
        let mut readable = metadata.as_object().cloned().unwrap_or_default();
        let codecs = metadata.get("codecs").unwrap_or(&Value::Null);
        let codecs = codecs::of_v3(codecs, items)?;
        let grid = readable.get_mut("chunk_grid").and_then(|grid| grid.get_mut("configuration"));
        if let Some(lens) = grid.and_then(|grid| grid.get_mut("chunk_shape")) {
            *lens = lenient::counts(lens);
        }
        readable.insert("zarr_format".to_owned(), 3.into());
        readable.insert("shape".to_owned(), shape);
        readable.insert("data_type".to_owned(), items.data_type());
        readable.insert("fill_value".to_owned(), fill_value);
        readable.insert("codecs".to_owned(), codecs.into());
        readable.remove("attributes");
        return Ok(readable.into());
    }
    let ndim = shape.as_array().map_or(0, Vec::len);
    let chunks = metadata.get("chunks").map_or(Value::Null, lenient::counts);
    let separator = metadata.get("dimension_separator").and_then(Value::as_str).unwrap_or(".");
    Ok(json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": items.data_type(),
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": separator}},
        "fill_value": fill_value,
        "codecs": codecs::of_v2(metadata, items, ndim)?,
    }))
}

fn open_array(files: &Files, folder: &str) -> io::Result<Opened> {
    let metadata = files.metadata_of(folder)?;
    let items = Items::of_metadata(&metadata)?;
    let readable = serde_json::from_value(readable(&metadata, &items)?).map_err(invalid)?;
    zarrs_blosc::register();
    let (storage, path) = (Arc::new(files.clone()), format!("/{folder}"));
    let array = Array::new_with_metadata(storage, &path, ArrayMetadata::V3(readable));
    let array = array.map_err(of_array)?;
    let names = metadata.get("dimension_names").and_then(Value::as_array);
    let name = |name: &Value| name.as_str().map(str::to_owned);
    let names = names.into_iter().flatten().map(name).collect();
    let (attributes, lost) = match files.attributes_of(folder) {
        Ok(attributes) => (attributes, vec![]),
        Err(error) => (Map::new(), vec![format!("all attributes ({error})")]),
    };
    let first = vec![0; array.dimensionality()];
    let about = About {
        format: "zarr",
        shape: array.shape().to_vec(),
        // An array without items has no chunks.
        chunkshape: array
            .chunk_shape(&first)
            .map_or(vec![], |shape| shape.iter().map(|len| len.get()).collect()),
        pipeline: pipeline_of(&metadata),
        checksum: checksum_of(&metadata),
        stored_nbytes: files
            .chunks_below(folder)
            .ok()
            .map(|chunks| chunks.iter().map(|(_, len)| len).sum()),
        attributes: with_dimensions(attributes, names),
        lost,
    };
    match items.given() {
        Some(dtype) => Ok(Opened::Array(Arc::new(ZarrArray { array, dtype, about }))),
        None => text_of(&array, about, items == Items::Text),
    }
}

/// An array of text or bytes of any length.
fn text_of(array: &Array<Files>, about: About, is_text: bool) -> io::Result<Opened> {
    let subset =
        ArraySubset::new_with_ranges(&about.shape.iter().map(|len| 0..*len).collect::<Vec<_>>());
    let found = array.retrieve_array_subset::<ArrayBytes<'static>>(&subset).map_err(of_chunk)?;
    let ArrayBytes::Variable(found) = found else { return Err(invalid("items of one length")) };
    let ends = found.offsets().iter().skip(1);
    let values =
        found.offsets().iter().zip(ends).map(|(start, end)| found.bytes().get(*start..*end));
    let values: Vec<&[u8]> =
        values.collect::<Option<_>>().ok_or_else(|| invalid("a value that is cut off"))?;
    let array = match is_text {
        true => {
            let texts: Result<Vec<&str>, _> =
                values.into_iter().map(core::str::from_utf8).collect();
            TextArray::new(about, texts.map_err(invalid)?.into_iter())?
        }
        false => TextArray::of_bytes(about, values.into_iter())?,
    };
    Ok(Opened::Array(Arc::new(array)))
}

struct ZarrArray {
    array: Array<Files>,
    dtype: Dtype,
    about: About,
}

impl fmt::Debug for ZarrArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZarrArray").field("path", self.array.path()).finish_non_exhaustive()
    }
}

/// The name of a codec, and the name of the codec within it.
fn codec_name(codec: &Value) -> Option<String> {
    let name = name_of(codec).or_else(|| codec.get("id")?.as_str())?;
    let configuration = codec.get("configuration").unwrap_or(codec);
    Some(match configuration.get("cname").and_then(Value::as_str) {
        Some(inner) => format!("{name} ({inner})"),
        None => name.to_owned(),
    })
}

/// The codecs in the metadata, in the order of writing.
fn codecs_of(metadata: &Value) -> impl Iterator<Item = &Value> {
    let list = |key: &str| metadata.get(key).and_then(Value::as_array);
    let filters = list("codecs").or_else(|| list("filters")).into_iter().flatten();
    filters.chain(metadata.get("compressor"))
}

/// The codecs by their names.
fn pipeline_of(metadata: &Value) -> String {
    let codecs: Vec<String> = codecs_of(metadata).filter_map(codec_name).collect();
    if codecs.is_empty() { "no codec".to_owned() } else { codecs.join(" -> ") }
}

/// Codecs that add a checksum, which reading a whole chunk compares.
const CHECKSUMS: [&str; 2] = ["crc32c", "fletcher32"];

/// The kind of the checksums of chunks; those of the parts of a shard are its own.
fn checksum_of(metadata: &Value) -> Option<&'static str> {
    codecs_of(metadata).find_map(|codec| {
        let name = name_of(codec).or_else(|| codec.get("id")?.as_str())?;
        let name = name.rsplit('.').next().unwrap_or(name);
        let known = CHECKSUMS.into_iter().find(|known| *known == name);
        known.or_else(|| checksum_of(codec.get("configuration")?))
    })
}

impl AnyArray for ZarrArray {
    fn format(&self) -> &'static str {
        self.about.format
    }

    fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    fn shape(&self) -> &[u64] {
        &self.about.shape
    }

    fn chunkshape(&self) -> &[u64] {
        &self.about.chunkshape
    }

    fn pipeline(&self) -> String {
        self.about.pipeline.clone()
    }

    fn stored_nbytes(&self) -> Option<u64> {
        self.about.stored_nbytes
    }

    fn attributes(&self) -> blosc_data::Result<Map<String, Value>> {
        Ok(self.about.attributes.clone())
    }

    fn lost(&self) -> Vec<String> {
        self.about.lost.clone()
    }

    fn read_box(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> blosc_data::Result<()> {
        self.items_of_box(bounds, dest).map_err(blosc_data::Error::of_opener)
    }

    /// Verifies each chunk separately, so that all damaged ones are reported.
    fn verify(
        &self,
        options: &VerifyOptions,
        progress: OnProgress<'_>,
    ) -> blosc_data::Result<Report> {
        let mut findings = Findings::new(options, self.about.checksum);
        let storage = self.array.storage();
        for indices in ArraySubset::new_with_shape(self.array.chunk_grid_shape().to_vec()).indices()
        {
            let key = self.array.chunk_key(&indices);
            if let Ok(None) = storage.size_key(&key) {
                findings.add_missing(1);
                continue;
            }
            match self.array.retrieve_chunk::<ArrayBytes<'static>>(&indices) {
                Ok(_) => findings.add_sound(true),
                Err(error) => findings.add_bad(key.as_str(), &of_chunk(error))?,
            }
        }
        Ok(findings.finish(self, progress))
    }
}

impl ZarrArray {
    /// Fills `dest` with the items of a box.
    fn items_of_box(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> io::Result<()> {
        let subset = ArraySubset::new_with_ranges(bounds);
        let items = self.array.retrieve_array_subset::<ArrayBytes<'static>>(&subset);
        match items.map_err(of_chunk)? {
            ArrayBytes::Fixed(bytes) if bytes.len() == dest.len() => {
                dest.copy_from_slice(&bytes);
                Ok(())
            }
            _ => Err(invalid("items of another size")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn dtype(metadata: Value) -> String {
        let given = Items::of_metadata(&metadata).map(|items| items.given());
        given.map_or_else(|error| error.to_string(), |dtype| dtype.unwrap().to_string())
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
    }

    #[test]
    fn records_and_text_have_types_of_numpy() {
        let fields = json!([["a", "<i4"], ["b", "|S3", [2]], ["c", [["d", ">f8"]]]]);
        let code = "[('a', '<i4'), ('b', '|S3', (2,)), ('c', [('d', '>f8')])]";
        assert_eq!(dtype(json!({"dtype": fields})), code);
        let text = json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}});
        assert_eq!(dtype(json!({"data_type": text})), "<U3");
        let fields = json!([["a", "int32"], ["b", text]]);
        for name in ["structured", "struct"] {
            let data_type = json!({"name": name, "configuration": {"fields": fields}});
            assert_eq!(dtype(json!({"data_type": data_type})), "[('a', '<i4'), ('b', '<U3')]");
        }
        let fields = json!([{"name": "a", "data_type": "uint8"}]);
        let data_type = json!({"name": "struct", "configuration": {"fields": fields}});
        assert_eq!(dtype(json!({"data_type": data_type})), "[('a', '|u1')]");
        let objects = json!({"dtype": "|O", "filters": [{"id": "json2"}]});
        assert!(dtype(objects).contains("|O with the filter json2, which"));
        assert!(dtype(json!({"dtype": [["a", "|O"]]})).contains("which have no counterpart"));
    }

    #[test]
    fn fill_values_have_several_spellings() {
        let fill =
            |code: &str, value: Value| Items::Fixed(code.parse().unwrap()).fill_value(&value).ok();
        for (code, value, expected) in [
            ("|u1", json!("0"), Some(json!(0))),
            ("<i4", json!(-3.0), Some(json!(-3))),
            ("<u8", json!(u64::MAX), Some(json!(u64::MAX))),
            ("<i4", json!(null), Some(json!(0))),
            ("<i4", json!(0.5), None),
            ("|b1", json!(0), Some(json!(false))),
            ("<f4", json!("0"), Some(json!(0.0))),
            ("<f4", json!("NaN"), Some(json!("NaN"))),
            ("<c8", json!([1, "NaN"]), Some(json!([1, "NaN"]))),
            ("<c8", json!(1), Some(json!([1, 0.0]))),
            ("<M8[ns]", json!("NaT"), Some(json!(i64::MIN))),
            ("<M8[ns]", json!("0"), Some(json!(0))),
            ("|S4", json!("eA=="), Some(json!([120, 0, 0, 0]))),
            ("|S4", json!(0), Some(json!([0, 0, 0, 0]))),
            ("|V2", json!([1, 2]), Some(json!([1, 2]))),
            ("|V2", json!("AAAA"), None),
            ("<U2", json!(0), Some(json!(""))),
            ("[('a', '<i2')]", json!({"a": 0}), Some(json!([0, 0]))),
        ] {
            assert_eq!(fill(code, value.clone()), expected, "{code} {value}");
        }
    }
}
