//! Data sets of HDF5, by a reader without libhdf5 and with the filters of Blosc.

use core::fmt;
use core::ops::Range;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use b2_cli::opener::{Opened, OpenedArray, OpenedGroup, Opener};
use blosc_dtype::Dtype;
use hdf5_reader::group::Group;
use hdf5_reader::{
    Attribute, ByteOrder, Dataset, Datatype, FilterRegistry, H5Type, Hdf5File, OpenOptions,
    SliceInfo, SliceInfoElem, StringSize, dtype_element_size,
};
use serde_json::{Map, Value};

use crate::split_name;

/// Opens files of HDF5: `x.h5` is the group of its data sets, `x.h5::/a/b` one of them, or a group.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hdf5Opener;

/// How a file of HDF5 begins.
const SIGNATURE: [u8; 8] = *b"\x89HDF\r\n\x1a\n";

impl Opener for Hdf5Opener {
    fn open(&self, name: &Path) -> io::Result<Option<Opened>> {
        let Some(text) = name.to_str() else { return Ok(None) };
        let (path, key) = split_name(text);
        if !is_hdf5(Path::new(path)) {
            return Ok(None);
        }
        let mut filters = FilterRegistry::new();
        hdf5_blosc::register(&mut filters);
        let options = OpenOptions::default().with_filter_registry(filters);
        let file = Hdf5File::open_with_options(path, options).map_err(invalid)?;
        let key = key.trim_matches('/');
        if !key.is_empty()
            && let Ok(dataset) = file.dataset(&format!("/{key}"))
        {
            return Ok(Some(Opened::Array(Arc::new(Hdf5Array::new(dataset)?))));
        }
        let group = match key {
            "" => file.root_group(),
            key => file.group(&format!("/{key}")),
        };
        let group = group.map_err(|error| {
            io::Error::new(io::ErrorKind::NotFound, format!("no data set and no group: {error}"))
        })?;
        Ok(Some(Opened::Group(Arc::new(group_of(path, key, &group)?))))
    }
}

fn is_hdf5(path: &Path) -> bool {
    let mut head = [0; SIGNATURE.len()];
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok()
        && head == SIGNATURE
}

fn invalid(error: impl fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

/// Groups that are within each other; a link may lead back.
const MAX_DEPTH: usize = 32;

fn group_of(file: &str, key: &str, group: &Group) -> io::Result<OpenedGroup> {
    let path = if key.is_empty() { String::new() } else { format!("/{key}") };
    let mut members = vec![];
    collect(file, &path, group, MAX_DEPTH, &mut members)?;
    members.sort_unstable();
    let attributes = group.attributes().map_err(invalid)?;
    Ok(OpenedGroup { format: "hdf5", members, attributes: values_of(&attributes) })
}

fn collect(
    file: &str,
    path: &str,
    group: &Group,
    depth: usize,
    found: &mut Vec<String>,
) -> io::Result<()> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(invalid(format!("groups within more than {MAX_DEPTH} groups")));
    };
    let (groups, datasets) = group.members().map_err(invalid)?;
    let last = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
    found.extend(datasets.iter().map(|set| format!("{file}::{path}/{}", last(set.name()))));
    groups.iter().try_for_each(|group| {
        collect(file, &format!("{path}/{}", last(group.name())), group, depth, found)
    })
}

struct Hdf5Array {
    dataset: Dataset,
    dtype: Dtype,
    chunkshape: Vec<u64>,
}

impl fmt::Debug for Hdf5Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hdf5Array").field("name", &self.dataset.name()).finish_non_exhaustive()
    }
}

impl Hdf5Array {
    fn new(dataset: Dataset) -> io::Result<Self> {
        let text = dtype_text(dataset.dtype())?;
        let dtype: Dtype = text.parse().map_err(invalid)?;
        let size = dtype_element_size(dataset.dtype()).map_err(invalid)?;
        if size != dtype.itemsize() {
            return Err(invalid(format!("items of {size} bytes, and of the type {dtype}")));
        }
        let chunks = dataset.chunks().unwrap_or_default();
        let chunkshape = chunks.iter().map(|len| u64::from(*len)).collect();
        Ok(Self { dataset, dtype, chunkshape })
    }

    fn items<T: Item>(&self, selection: &SliceInfo, dest: &mut [u8]) -> io::Result<()> {
        let items = self.dataset.read_slice::<T>(selection).map_err(invalid)?;
        let size = self.dtype.itemsize().max(1);
        let mut dest = dest.chunks_exact_mut(size);
        for item in &items {
            match dest.next() {
                Some(dest) if dest.len() == item.bytes().len() => {
                    dest.copy_from_slice(item.bytes());
                }
                _ => return Err(invalid("more items than the part has")),
            }
        }
        match dest.next() {
            None => Ok(()),
            Some(_) => Err(invalid("fewer items than the part has")),
        }
    }
}

/// A type as NumPy writes it; what it has none for is an error.
fn dtype_text(datatype: &Datatype) -> io::Result<String> {
    let order = |order: &ByteOrder| match order {
        ByteOrder::BigEndian => '>',
        ByteOrder::LittleEndian => '<',
    };
    let unsupported = |what: &str| {
        let text = format!("{what}, which have no counterpart");
        Err(io::Error::new(io::ErrorKind::Unsupported, text))
    };
    Ok(match datatype {
        Datatype::FixedPoint { size, signed, byte_order } => {
            format!("{}{}{size}", order(byte_order), if *signed { 'i' } else { 'u' })
        }
        Datatype::Bitfield { size, byte_order } => format!("{}u{size}", order(byte_order)),
        Datatype::FloatingPoint { size, byte_order } => format!("{}f{size}", order(byte_order)),
        Datatype::String { size: StringSize::Fixed(size), .. } => format!("|S{size}"),
        Datatype::Opaque { size, .. } => format!("|V{size}"),
        Datatype::Enum { base, members } => {
            let is_bool = members.len() == 2
                && members.iter().any(|member| member.name == "FALSE")
                && members.iter().any(|member| member.name == "TRUE");
            match dtype_text(base)? {
                text if is_bool && text.ends_with('1') => "|b1".to_owned(),
                text => text,
            }
        }
        Datatype::Compound { size, fields } => {
            if let [re, im] = fields.as_slice()
                && let (Datatype::FloatingPoint { size: 4 | 8, byte_order }, "r", "i") =
                    (&re.datatype, re.name.as_str(), im.name.as_str())
                && re.datatype == im.datatype
                && re.byte_offset == 0
                && im.byte_offset.checked_mul(2) == Some(*size)
            {
                return Ok(format!("{}c{size}", order(byte_order)));
            }
            let quoted =
                |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
            let names: Vec<String> = fields.iter().map(|field| quoted(&field.name)).collect();
            let offsets: Vec<String> =
                fields.iter().map(|field| field.byte_offset.to_string()).collect();
            let formats = fields.iter().map(|field| field_text(&field.datatype));
            let formats = formats.collect::<io::Result<Vec<_>>>()?;
            format!(
                "{{'names': [{}], 'formats': [{}], 'offsets': [{}], 'itemsize': {size}}}",
                names.join(", "),
                formats.join(", "),
                offsets.join(", ")
            )
        }
        Datatype::Array { .. } => return unsupported("items that are arrays"),
        Datatype::VarLen { .. } | Datatype::String { size: StringSize::Variable, .. } => {
            return unsupported("items of variable length");
        }
        Datatype::Reference { .. } => return unsupported("references"),
    })
}

/// The type of a field, in quotes, or that of an array in it.
fn field_text(datatype: &Datatype) -> io::Result<String> {
    Ok(match datatype {
        Datatype::Array { base, dims } => {
            let dims: Vec<String> = dims.iter().map(u64::to_string).collect();
            format!("({}, ({},))", field_text(base)?, dims.join(", "))
        }
        Datatype::Compound { .. } => {
            let text = dtype_text(datatype)?;
            if text.starts_with('{') { text } else { format!("'{text}'") }
        }
        _ => format!("'{}'", dtype_text(datatype)?),
    })
}

/// Attributes as far as JSON has values for them.
fn values_of(attributes: &[Attribute]) -> Map<String, Value> {
    let value = |attribute: &Attribute| -> Option<Value> {
        let mut values: Vec<Value> = match &attribute.datatype {
            Datatype::FixedPoint { signed: false, .. } => {
                attribute.read_1d::<u64>().ok()?.into_iter().map(Value::from).collect()
            }
            Datatype::FixedPoint { .. } => {
                attribute.read_1d::<i64>().ok()?.into_iter().map(Value::from).collect()
            }
            Datatype::FloatingPoint { .. } => {
                attribute.read_1d::<f64>().ok()?.into_iter().map(Value::from).collect()
            }
            _ => attribute.read_strings().ok()?.into_iter().map(Value::from).collect(),
        };
        match (attribute.shape.is_empty(), values.len()) {
            (true, 1) => values.pop(),
            _ => Some(Value::Array(values)),
        }
    };
    let known = |attribute: &Attribute| Some((attribute.name.clone(), value(attribute)?));
    attributes.iter().filter_map(known).collect()
}

impl OpenedArray for Hdf5Array {
    fn format(&self) -> &'static str {
        "hdf5"
    }

    fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    fn shape(&self) -> &[u64] {
        self.dataset.shape()
    }

    fn chunkshape(&self) -> &[u64] {
        &self.chunkshape
    }

    fn pipeline(&self) -> String {
        // The reader tells nobody the filters.
        String::new()
    }

    fn stored_nbytes(&self) -> Option<u64> {
        None
    }

    fn attributes(&self) -> Map<String, Value> {
        values_of(&self.dataset.attributes())
    }

    fn read(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> io::Result<()> {
        if bounds.is_empty() {
            let bytes = self.dataset.read_raw_bytes().map_err(invalid)?;
            if bytes.len() != dest.len() {
                return Err(invalid("one item of another size"));
            }
            dest.copy_from_slice(&bytes);
            return Ok(());
        }
        let along = |range: &Range<u64>| SliceInfoElem::Slice {
            start: range.start,
            end: range.end,
            step: 1,
        };
        let selection = SliceInfo { selections: bounds.iter().map(along).collect() };
        match self.dtype.itemsize() {
            1 => self.items::<Exact<1>>(&selection, dest),
            2 => self.items::<Exact<2>>(&selection, dest),
            4 => self.items::<Exact<4>>(&selection, dest),
            8 => self.items::<Exact<8>>(&selection, dest),
            16 => self.items::<Exact<16>>(&selection, dest),
            _ => self.items::<Whole>(&selection, dest),
        }
    }
}

/// The bytes of an item, as they are stored.
trait Item: H5Type {
    fn bytes(&self) -> &[u8];
}

#[derive(Clone)]
struct Exact<const SIZE: usize>([u8; SIZE]);

#[derive(Clone)]
struct Whole(Box<[u8]>);

impl<const SIZE: usize> Item for Exact<SIZE> {
    fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Item for Whole {
    fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Stands for whatever the data set has.
fn any_type() -> Datatype {
    Datatype::Opaque { size: 0, tag: String::new() }
}

fn size_of_items(dtype: &Datatype) -> usize {
    dtype_element_size(dtype).unwrap_or_default()
}

impl<const SIZE: usize> H5Type for Exact<SIZE> {
    fn hdf5_type() -> Datatype {
        any_type()
    }

    fn from_bytes(bytes: &[u8], _: &Datatype) -> hdf5_reader::error::Result<Self> {
        let item = bytes.first_chunk::<SIZE>().filter(|_| bytes.len() == SIZE);
        let wrong = || hdf5_reader::error::Error::InvalidData("an item of another size".into());
        item.map(|item| Self(*item)).ok_or_else(wrong)
    }

    fn element_size(dtype: &Datatype) -> usize {
        size_of_items(dtype)
    }

    fn decode_vec(
        raw: &[u8],
        _: &Datatype,
        count: usize,
    ) -> Option<hdf5_reader::error::Result<Vec<Self>>> {
        let (items, rest) = raw.as_chunks::<SIZE>();
        let is_whole = rest.is_empty() && items.len() == count;
        is_whole.then(|| Ok(items.iter().map(|item| Self(*item)).collect()))
    }
}

impl H5Type for Whole {
    fn hdf5_type() -> Datatype {
        any_type()
    }

    fn from_bytes(bytes: &[u8], _: &Datatype) -> hdf5_reader::error::Result<Self> {
        Ok(Self(bytes.into()))
    }

    fn element_size(dtype: &Datatype) -> usize {
        size_of_items(dtype)
    }
}
