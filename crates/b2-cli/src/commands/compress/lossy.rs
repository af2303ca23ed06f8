//! Codecs and filters that lose data: their requirements, and the loss that they cause.
//!
//! Lossy codecs treat all items as numbers of one kind; C-Blosc2 silently makes garbage of others.
//! So the type of the items must be known and fit: from an array, `--dtype` or a name like `.f32`.
//! The program always reads the stored data back, which tells the loss.

use core::cell::Cell;
use std::{
    fs::File,
    io::{self, Seek, Write},
    sync::Arc,
};

use blosc_chunk::{FilterId, Registries};
pub(super) use blosc_data::loss::Sums;
use blosc_dtype::{ByteOrder, Dtype, Kind, npy::NpyHeader};
use blosc_io::{FileStore, ReadAt};

use super::Work;
use crate::{
    args::TuningArgs,
    console::Console,
    content::source::{Items, Source},
    error::{Doing, Error, Result, message},
    inputs::{Data, ObjectReader, Origin, decoded, typesize},
    render::size,
};

/// The codec or filter that loses data, if there is one: `the filter trunc_prec:10`.
pub(super) fn name(tuning: &TuningArgs) -> Option<String> {
    let registries = Registries::default();
    let codec = tuning.codec.and_then(|choice| registries.codecs.get(choice.id));
    let filters = tuning.pipeline();
    match codec.filter(|codec| codec.is_lossy()) {
        Some(codec) => Some(format!("the codec {}", codec.name())),
        None if filters.is_lossy(&registries.filters) => Some(format!("the filter {filters}")),
        None => None,
    }
}

/// Warns of items that are no finite numbers, where ZFP should have compressed them.
pub(super) fn warn_of_not_finite(console: &Console, name: &str, tuning: &TuningArgs, loss: Sums) {
    let is_zfp = || self::name(tuning).is_some_and(|name| name.contains("zfp"));
    if loss.not_finite > 0 && is_zfp() {
        let items = size::counted(loss.not_finite, "item");
        let why = "ZFP takes no blocks with NaN or infinities, which are stored as they are";
        console.warning(name, &format!("{items} are no finite numbers: {why}"));
    }
}

/// Refuses options that lose data and make no sense for any input.
pub(super) fn check(tuning: &TuningArgs, wants_equal: bool) -> Result<()> {
    let Some(name) = name(tuning) else { return Ok(()) };
    let registries = Registries::default();
    let codec = tuning.codec.and_then(|choice| registries.codecs.get(choice.id));
    if codec.is_some_and(|codec| codec.is_lossy()) && !tuning.pipeline().is_empty() {
        return Err(message::LOSSY_FILTER.about(name));
    }
    match (tuning.lossy, wants_equal) {
        (false, _) => Err(message::LOSSY.about(name)),
        (true, true) => Err(message::LOSSY_VERIFY.error()),
        (true, false) => Ok(()),
    }
}

/// The type of the items, if a lossy codec or filter is chosen.
///
/// # Errors
///
/// When it is unknown, or the codec and the filters do not take it.
pub(super) fn item_type(
    tuning: &TuningArgs,
    layout: Option<&NpyHeader>,
    origin: &Origin,
    data: &Data,
) -> Result<Option<Dtype>> {
    let Some(what) = name(tuning) else { return Ok(None) };
    if layout.is_none() && data.sample().starts_with(blosc_dtype::npy::MAGIC) {
        return Err(message::LOSSY_NPY.about(what));
    }
    let by_name = || origin.path().and_then(typesize::dtype_of_name);
    let known = layout.map(|layout| layout.dtype.clone());
    let Some(dtype) = known.or_else(|| tuning.dtype.clone()).or_else(by_name) else {
        return Err(message::LOSSY_BYTES.about(what));
    };
    let needs = needs(tuning);
    let (kind, itemsize) = (dtype.kind(), dtype.itemsize());
    let is_native = dtype.scalar().is_some_and(|scalar| scalar.order() != ByteOrder::Big);
    let fits = match needs {
        INTEGERS => matches!(kind, Some(Kind::Int | Kind::Uint)),
        _ => kind == Some(Kind::Float) && matches!(itemsize, 4 | 8),
    };
    if !(fits && is_native) {
        let dtype = dtype.to_string();
        return Err(Error::LossyType { what, needs, dtype });
    }
    Ok(Some(dtype))
}

const INTEGERS: &str = "little-endian integers";
const FLOATS: &str = "little-endian floating-point numbers of 4 or 8 bytes";

/// The items that the lossy codec or filter takes, for a message.
fn needs(tuning: &TuningArgs) -> &'static str {
    if tuning.pipeline().contains(FilterId::INT_TRUNC) { INTEGERS } else { FLOATS }
}

/// The difference between the items of the input and the stored ones.
#[derive(Debug)]
pub(super) struct Loss {
    /// The content of the input, arrays in C order.
    given: FileStore,
    /// Where it starts (bytes).
    start: u64,
    dtype: Dtype,
    /// Bytes that have been compared.
    at: Cell<u64>,
    sums: Cell<Sums>,
}

impl Loss {
    /// Starts the comparison of an input of items of this type. An input that can be read only once
    /// is copied, and `data` then reads the copy.
    pub(super) fn start(
        dtype: Dtype,
        layout: Option<&NpyHeader>,
        origin: &Origin,
        data: Data,
    ) -> Result<(Self, Data)> {
        let wrong = Error::io(Doing::Spool);
        let (given, data) = match origin.path().filter(|_| data.len().is_some()) {
            Some(path) => (File::open(path).map_err(Error::io(Doing::Open))?, data),
            None => {
                let (copy, data) = data.spooled()?;
                (copy, data)
            }
        };
        let start = layout.map_or(0, |layout| layout.len as u64);
        let turned = layout.filter(|layout| layout.fortran_order && layout.shape.len() > 1);
        let (given, start) = match turned {
            None => (FileStore::from_file(given), start),
            Some(layout) => {
                let mut copy = tempfile::tempfile().map_err(wrong)?;
                let store = FileStore::from_file(given);
                let file_len = store.len().map_err(Error::io(Doing::Read))?;
                let items = Source::Items(Items::new(Arc::new(store), file_len, layout.clone())?);
                items.in_c_order(&b2frame::Budget::default(), MAX_PIECE_NBYTES, &mut |bytes| {
                    copy.write_all(bytes).map_err(Error::io(Doing::Spool))
                })?;
                copy.rewind().map_err(Error::io(Doing::Spool))?;
                (FileStore::from_file(copy), 0)
            }
        };
        Ok((Self { given, start, dtype, at: Cell::default(), sums: Cell::default() }, data))
    }

    /// The sums so far.
    pub(super) fn sums(&self) -> Sums {
        self.sums.get()
    }

    /// Compares the next items.
    fn compare(&self, found: &[u8]) -> Result<()> {
        let mut given = vec![0; found.len()];
        let at = self.start.saturating_add(self.at.get());
        self.given.read_exact_at(at, &mut given).map_err(Error::io(Doing::Read))?;
        let mut sums = self.sums.get();
        sums.compare(&self.dtype, &given, found);
        self.sums.set(sums);
        self.at.set(self.at.get().saturating_add(found.len() as u64));
        Ok(())
    }
}

/// Bytes of a piece of an array that is put in C order.
const MAX_PIECE_NBYTES: u64 = 16 << 20;

impl Work<'_> {
    /// Compares the stored items with those of the input, if some may be lossy.
    pub(super) fn measure_loss(&self, store: Arc<dyn ReadAt>) -> Result<()> {
        let Some(loss) = &self.loss else { return Ok(()) };
        let mut objects = ObjectReader::from_store(store, self.cx.read_params());
        while let Some(object) = objects.next()? {
            decoded::all(&object, &self.cx.read_options(), &mut |bytes| loss.compare(bytes))?;
        }
        Ok(())
    }
}

impl Data {
    /// A copy of all data in a temporary file, and the same data read from there.
    fn spooled(self) -> Result<(File, Self)> {
        let mut file = tempfile::tempfile().map_err(Error::io(Doing::Spool))?;
        io::copy(&mut self.into_reader(), &mut file).map_err(Error::io(Doing::Spool))?;
        file.rewind().map_err(Error::io(Doing::Spool))?;
        // Comparing reads at positions, so one file serves both readers.
        let copy = file.try_clone().map_err(Error::io(Doing::Spool))?;
        Ok((copy, Self::of_copy(file)?))
    }
}
