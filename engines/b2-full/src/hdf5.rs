//! Data sets of HDF5, by a reader without libhdf5 and with the filters of Blosc.

mod attributes;
mod fault;
mod filters;
mod items;
mod links;

use core::fmt;
use core::ops::Range;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use blosc_data::boxes::{Boxes, count};
use blosc_data::size::as_len;
use blosc_data::verify::{OnProgress, Report, VerifyOptions, by_reading};
use blosc_data::{Array as AnyArray, ForeignGroup, Opened, Opener};
use blosc_dtype::Dtype;
use hdf5_blosc::datatype::ItemType;
use hdf5_reader::error::Error;
use hdf5_reader::group::Group;
use hdf5_reader::messages::link::{LinkMessage, LinkTarget};
use hdf5_reader::{
    Dataset, Datatype, FilterRegistry, Hdf5File, OpenOptions, SliceInfo, SliceInfoElem, StringSize,
    VarLenKind,
};
use serde_json::{Map, Value};

use crate::chunks::Findings;
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
        // Without a resolver no other file is opened: a link can name any file.
        let options = OpenOptions::default().with_filter_registry(filters);
        let file = Hdf5File::open_with_options(path, options).map_err(of_reader)?;
        let key = key.trim_matches('/');
        if key.is_empty() {
            let root = file.root_group().map_err(of_reader)?;
            return group_of(&file, path, key, &root).map(Some);
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
        group_of(&file, path, key, &group).map(Some)
    }

    fn kind_name(&self) -> Option<&'static str> {
        Some("HDF5")
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

fn group_of(file: &Hdf5File, path: &str, key: &str, group: &Group) -> io::Result<Opened> {
    let own = if key.is_empty() { String::new() } else { format!("/{key}") };
    let mut found = ForeignGroup { format: "hdf5", ..ForeignGroup::default() };
    let attributes = Attributes::of_group(group);
    found.lost = attributes.lost_of("this group");
    found.attributes = attributes.values;
    let links = links::of_group(file, group).map_err(of_reader)?;
    let mut listing =
        Listing { file, own: format!("{path}::{own}"), above: vec![group.address()], found };
    listing.collect("", group, &links)?;
    listing.found.members.sort_unstable();
    Ok(Opened::Group(Arc::new(listing.found)))
}

/// The members of a group that are found so far.
struct Listing<'a> {
    file: &'a Hdf5File,
    /// The name of the group.
    own: String,
    /// The addresses of the groups that are being looked at, each in the one before it.
    above: Vec<u64>,
    found: ForeignGroup,
}

impl Listing<'_> {
    /// Adds the members of a group at a path: data sets by name only, so that one that cannot be
    /// opened hides no other. A link back to a group is no further group.
    fn collect(&mut self, path: &str, group: &Group, links: &[LinkMessage]) -> io::Result<()> {
        if self.above.len() > MAX_DEPTH {
            return Err(invalid(format!("groups within more than {MAX_DEPTH} groups")));
        }
        for link in links {
            let path = format!("{path}/{}", link.name);
            if let LinkTarget::External { filename, path: target } = &link.target {
                let text = format!("link to {target} in {filename}, which is not opened");
                self.found.others.insert(path, text);
                continue;
            }
            let inner = match group.group(&link.name) {
                Ok(inner) => inner,
                Err(error) => {
                    self.add_other(path, group, link, &error);
                    continue;
                }
            };
            if self.above.contains(&inner.address()) {
                continue;
            }
            // Opening the member reports the error.
            let Ok(links) = links::of_group(self.file, &inner) else {
                self.add(&path);
                continue;
            };
            let attributes = Attributes::of_group(&inner);
            self.found.lost.extend(attributes.lost_of(&format!("the group {path}")));
            self.found.groups.insert(path.clone(), attributes.values);
            self.above.push(inner.address());
            self.collect(&path, &inner, &links)?;
            self.above.pop();
        }
        Ok(())
    }

    /// Adds a link that leads to no group, for this reason: to a data set, to nothing, or to a
    /// type, which is no member.
    fn add_other(&mut self, path: String, group: &Group, link: &LinkMessage, error: &Error) {
        match &link.target {
            LinkTarget::Hard { address } => {
                if !is_missing(error) || links::is_dataset(self.file, *address) {
                    self.add(&path);
                }
            }
            LinkTarget::Soft { path: target } => match group.dataset(&link.name) {
                Err(error) if is_missing(&error) => {
                    let text = format!("link to {target}, which is not there");
                    self.found.others.insert(path, text);
                }
                _ => self.add(&path),
            },
            LinkTarget::External { .. } => {}
        }
    }

    fn add(&mut self, path: &str) {
        self.found.members.push(format!("{}{path}", self.own));
    }
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
    let pipeline = filters::pipeline(root, dataset)?;
    Ok(About {
        format: "hdf5",
        shape: dataset.shape().to_vec(),
        chunkshape: chunks.iter().map(|len| u64::from(*len)).collect(),
        checksum: pipeline.contains(FLETCHER32).then_some(FLETCHER32),
        pipeline,
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

    /// Verifies each chunk separately, so that all damaged ones are reported.
    fn verify(
        &self,
        options: &VerifyOptions,
        progress: OnProgress<'_>,
    ) -> blosc_data::Result<Report> {
        let Some(chunkshape) = self.dataset.chunks() else { return Ok(by_reading(self, options)) };
        let mut findings = Findings::new(options, self.about.checksum);
        let chunks = self.dataset.iter_chunks();
        let (mut sound, mut are_all) = (HashMap::new(), true);
        for chunk in chunks.map_err(|error| blosc_data::Error::of_opener(of_reader(error)))? {
            match chunk {
                Ok(chunk) => {
                    sound.insert(chunk.offsets().to_vec(), chunk.filter_mask());
                }
                Err(_) => are_all = false,
            }
        }
        let is_summed = |mask: u32| mask & self.fletcher32_bit() == 0;
        if are_all {
            sound.values().for_each(|mask| findings.add_sound(is_summed(*mask)));
            let nchunks = (self as &dyn AnyArray).nchunks();
            findings.add_missing(nchunks.saturating_sub(sound.len() as u64));
            return Ok(findings.finish(self, progress));
        }
        // The reader does not tell which chunks are damaged: reading the others again does.
        let mut items = vec![];
        for bounds in Boxes::new(self.shape(), &chunkshape, 1, 0) {
            let first: Vec<u64> = bounds.iter().map(|range| range.start).collect();
            if let Some(mask) = sound.get(&first) {
                findings.add_sound(is_summed(*mask));
                continue;
            }
            let needed = count(&bounds).saturating_mul(self.dtype.itemsize() as u64);
            let out_of_memory = |_| blosc_data::Error::OutOfMemory { needed };
            items.clear();
            items.try_reserve_exact(as_len(needed)).map_err(out_of_memory)?;
            items.resize(as_len(needed), 0);
            match self.items_of_box(&bounds, &mut items) {
                Ok(()) => findings.add_missing(1),
                Err(error) => findings.add_bad(&format!("from item {first:?} on"), &error)?,
            }
        }
        Ok(findings.finish(self, progress))
    }
}

/// The filter with a checksum of each chunk.
const FLETCHER32: &str = "fletcher32";

impl Hdf5Array {
    /// The bit of a filter mask by which a chunk is without its checksum.
    fn fletcher32_bit(&self) -> u32 {
        let filters = self.about.pipeline.split(" -> ");
        let before = filters.take_while(|name| *name != FLETCHER32).count();
        u32::try_from(before).ok().and_then(|n| 1_u32.checked_shl(n)).unwrap_or_default()
    }

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
