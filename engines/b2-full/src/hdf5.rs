//! Data sets of HDF5, by a reader without libhdf5 and with the filters of Blosc.

mod attributes;
mod fault;
mod filters;
mod items;

use core::fmt;
use core::ops::Range;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use blosc_data::{Array as AnyArray, ForeignGroup, Opened, Opener};
use blosc_dtype::Dtype;
use hdf5_blosc::datatype::ItemType;
use hdf5_reader::group::Group;
use hdf5_reader::{
    Dataset, Datatype, ExternalLinkResolver, FilterRegistry, Hdf5File, OpenOptions, SliceInfo,
    SliceInfoElem, StringSize, VarLenKind,
};
use serde_json::{Map, Value};

use crate::text::{About, TextArray};
use crate::{split_name, with_dimensions};
use attributes::Attributes;
use fault::{invalid, is_missing, of_reader, of_type, unsupported};
use items::{Exact, Item, Whole};

/// Opens files of HDF5: `x.h5` is the group of its data sets, `x.h5::/a/b` is a data set or a
/// group.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hdf5Opener;

/// The first bytes of a file of HDF5.
const SIGNATURE: [u8; 8] = *b"\x89HDF\r\n\x1a\n";

impl Opener for Hdf5Opener {
    fn open(&self, word: &str) -> io::Result<Option<Opened>> {
        let (path, key) = split_name(word);
        if !is_hdf5(Path::new(path)) {
            return Ok(None);
        }
        let mut filters = FilterRegistry::new();
        hdf5_blosc::register(&mut filters);
        let elsewhere = Arc::new(Elsewhere::default());
        let options = OpenOptions::default()
            .with_filter_registry(filters)
            .with_external_link_resolver(Arc::clone(&elsewhere) as _);
        let file = Hdf5File::open_with_options(path, options).map_err(of_reader)?;
        let key = key.trim_matches('/');
        if key.is_empty() {
            let root = file.root_group().map_err(of_reader)?;
            let group = elsewhere.named_in(group_of(path, key, &root)?);
            return Ok(Some(Opened::Group(Arc::new(group))));
        }
        match file.dataset(&format!("/{key}")) {
            Ok(dataset) => return open_dataset(&file, key, dataset).map(Some),
            Err(error) if is_missing(&error) => {}
            Err(error) => return Err(of_reader(error)),
        }
        let group = file.group(&format!("/{key}")).map_err(|error| match is_missing(&error) {
            true => {
                io::Error::new(io::ErrorKind::NotFound, "no data set and no group of this name")
            }
            false => of_reader(error),
        })?;
        let group = elsewhere.named_in(group_of(path, key, &group)?);
        Ok(Some(Opened::Group(Arc::new(group))))
    }

    fn kind_name(&self) -> Option<&'static str> {
        Some("HDF5")
    }
}

/// The files that links name. They are never opened: a link can name any file.
#[derive(Default)]
struct Elsewhere(Mutex<BTreeSet<String>>);

impl ExternalLinkResolver for Elsewhere {
    fn resolve_external_link(
        &self,
        filename: &str,
    ) -> hdf5_reader::error::Result<Option<Hdf5File>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(filename.to_owned());
        Ok(None)
    }
}

impl Elsewhere {
    /// Adds these files to the losses of a group.
    fn named_in(&self, mut group: ForeignGroup) -> ForeignGroup {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        group.lost.extend(files.iter().map(|file| format!("the data that links name in {file}")));
        group
    }
}

fn is_hdf5(path: &Path) -> bool {
    let mut head = [0; SIGNATURE.len()];
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok()
        && head == SIGNATURE
}

/// Greatest depth of groups.
const MAX_DEPTH: usize = 32;

fn group_of(file: &str, key: &str, group: &Group) -> io::Result<ForeignGroup> {
    let own = if key.is_empty() { String::new() } else { format!("/{key}") };
    let mut found = ForeignGroup { format: "hdf5", ..ForeignGroup::default() };
    let attributes = Attributes::of_group(group);
    found.lost = attributes.lost_of("this group");
    found.attributes = attributes.values;
    collect(&format!("{file}::{own}"), "", group, &mut vec![group.address()], &mut found)?;
    found.members.sort_unstable();
    Ok(found)
}

/// Adds the members of a group. Data sets are added by name, so that one that does not open hides
/// no other. A link back to a group does not repeat the group.
fn collect(
    own: &str,
    path: &str,
    group: &Group,
    above: &mut Vec<u64>,
    found: &mut ForeignGroup,
) -> io::Result<()> {
    if above.len() > MAX_DEPTH {
        return Err(invalid(format!("groups within more than {MAX_DEPTH} groups")));
    }
    let (groups, datasets) = group.member_names().map_err(of_reader)?;
    found.members.extend(datasets.iter().map(|name| format!("{own}{path}/{name}")));
    for name in groups {
        let inner = group.group(&name).map_err(of_reader)?;
        if above.contains(&inner.address()) {
            continue;
        }
        let path = format!("{path}/{name}");
        let attributes = Attributes::of_group(&inner);
        found.lost.extend(attributes.lost_of(&format!("the group {path}")));
        found.groups.insert(path.clone(), attributes.values);
        above.push(inner.address());
        collect(own, &path, &inner, above, found)?;
        above.pop();
    }
    Ok(())
}

fn open_dataset(file: &Hdf5File, key: &str, dataset: Dataset) -> io::Result<Opened> {
    let is_text = match dataset.dtype() {
        Datatype::String { size, .. } => *size == StringSize::Variable,
        Datatype::VarLen { kind, .. } => *kind == VarLenKind::String,
        _ => false,
    };
    if dataset.shape().is_empty() && dataset.num_elements().map_err(of_reader)? == 0 {
        return Err(unsupported("a data set without a single item (H5S_NULL)"));
    }
    let root = file.root_group().map_err(of_reader)?;
    if is_text {
        let about = about(&root, key, &dataset)?;
        let texts = dataset.read_strings().map_err(of_reader)?;
        let array = TextArray::new(about, texts.iter().map(String::as_str))?;
        return Ok(Opened::Array(Arc::new(array)));
    }
    Ok(Opened::Array(Arc::new(Hdf5Array::new(&root, key, dataset)?)))
}

/// The description of a data set.
fn about(root: &Group, key: &str, dataset: &Dataset) -> io::Result<About> {
    let found = Attributes::of_dataset(dataset);
    let names = attributes::dimension_names(root, key, dataset);
    let chunks = dataset.chunks().unwrap_or_default();
    Ok(About {
        format: "hdf5",
        shape: dataset.shape().to_vec(),
        chunkshape: chunks.iter().map(|len| u64::from(*len)).collect(),
        pipeline: filters::pipeline(root, dataset)?,
        stored_nbytes: None,
        attributes: with_dimensions(found.values, names),
        lost: found.lost.iter().map(|name| format!("the attribute `{name}`")).collect(),
    })
}

/// The attribute of files of PyTables; only they give its times a meaning.
const PYTABLES_VERSION: &str = "PYTABLES_FORMAT_VERSION";

struct Hdf5Array {
    dataset: Dataset,
    dtype: Dtype,
    item: ItemType,
    about: About,
}

impl fmt::Debug for Hdf5Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hdf5Array").field("name", &self.dataset.name()).finish_non_exhaustive()
    }
}

impl Hdf5Array {
    fn new(root: &Group, key: &str, dataset: Dataset) -> io::Result<Self> {
        let message = dataset.raw_datatype().map_err(of_reader)?;
        let item = match root.attribute(PYTABLES_VERSION) {
            Ok(_) => ItemType::parse_of_pytables(&message),
            Err(_) => ItemType::parse(&message),
        };
        let item = item.map_err(of_type)?;
        let dtype: Dtype = item.numpy().parse().map_err(unsupported)?;
        if item.nbytes() != dtype.itemsize() {
            return Err(invalid(format!(
                "items of {} bytes, and of the type {dtype}",
                item.nbytes()
            )));
        }
        let about = about(root, key, &dataset)?;
        Ok(Self { dataset, dtype, item, about })
    }

    /// The stored items of a box.
    fn stored(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> io::Result<()> {
        if bounds.is_empty() {
            let bytes = self.dataset.read_raw_bytes().map_err(of_reader)?;
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
        match self.item.stored_nbytes() {
            1 => self.items::<Exact<1>>(&selection, dest),
            2 => self.items::<Exact<2>>(&selection, dest),
            4 => self.items::<Exact<4>>(&selection, dest),
            8 => self.items::<Exact<8>>(&selection, dest),
            16 => self.items::<Exact<16>>(&selection, dest),
            _ => self.items::<Whole>(&selection, dest),
        }
    }

    fn items<T: Item>(&self, selection: &SliceInfo, dest: &mut [u8]) -> io::Result<()> {
        let items = self.dataset.read_slice::<T>(selection).map_err(of_reader)?;
        let mut dest = dest.chunks_exact_mut(self.item.stored_nbytes().max(1));
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

impl AnyArray for Hdf5Array {
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

    fn attributes(&self) -> blosc_data::Result<Map<String, Value>> {
        Ok(self.about.attributes.clone())
    }

    fn lost(&self) -> Vec<String> {
        self.about.lost.clone()
    }

    fn read_box(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> blosc_data::Result<()> {
        self.items_of_box(bounds, dest).map_err(blosc_data::Error::of_opener)
    }
}

impl Hdf5Array {
    /// Fills `dest` with the items of a box.
    fn items_of_box(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> io::Result<()> {
        if self.item.is_as_stored() {
            return self.stored(bounds, dest);
        }
        let nitems = dest.len().checked_div(self.item.nbytes()).unwrap_or(0);
        let mut stored = vec![0; nitems.saturating_mul(self.item.stored_nbytes())];
        self.stored(bounds, &mut stored)?;
        self.item.convert(&stored, dest);
        Ok(())
    }
}
