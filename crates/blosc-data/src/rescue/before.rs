//! The data before the damage of an object that does not open, as gzip prints them.

use std::path::Path;
use std::sync::Arc;

use b2frame::probe::{Kind, probe};
use b2frame::rescue::{ChunkState, Salvage};
use b2frame::{OpenOptions, SChunk};
use b2store::Content;
use blosc_container::rescue::{ChunkSalvage, Fill, RescueOptions};
use blosc_io::{ReadAt, Windowed};

use super::Options;
use crate::Budget;
use crate::error::{Error, Result};
use crate::formats::{chunk, frame};
use crate::size::{as_len, nbytes};

/// Bytes that the recognition of an object needs.
const HEAD_NBYTES: u64 = 87;

/// Takes pieces of data.
type Sink<'a, E> = &'a mut dyn FnMut(&[u8]) -> Result<(), E>;

/// The position of an object that does not open.
pub struct Damaged<'a> {
    /// The bytes of the object, perhaps among others.
    pub store: Arc<dyn ReadAt>,
    /// The start of the object in the store (bytes).
    pub at: u64,
    /// The directory of a sparse frame.
    pub folder: Option<&'a Path>,
}

impl Damaged<'_> {
    /// Bytes from the start of the object on.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.store.len().map_or(0, |len| len.saturating_sub(self.at))
    }

    /// The first bytes of the object, as many as recognition needs.
    fn head(&self) -> Vec<u8> {
        let mut head = vec![0; as_len(self.left().min(HEAD_NBYTES))];
        match self.store.read_exact_at(self.at, &mut head) {
            Ok(()) => head,
            Err(_) => vec![],
        }
    }

    /// The data of a bare chunk up to its first unreadable block. Chunk and data take at most a
    /// quarter of the memory each.
    fn chunk(&self, options: &Options) -> Option<Vec<u8>> {
        chunk::header_of(&self.head())?;
        let is_small = self.left() <= options.budget.max_memory / 4;
        let len = usize::try_from(self.left()).ok().filter(|_| is_small)?;
        let mut bytes = vec![0; len];
        self.store.read_exact_at(self.at, &mut bytes).ok()?;
        let rescue = RescueOptions::default();
        let saved = ChunkSalvage::from_bytes(&bytes, &options.dparams_in(4), &rescue).ok()?;
        Some(saved.data_before_damage().to_vec())
    }
}

/// Hands the data before the damage of an object to `sink`. `admit` is called before data are
/// decoded; at most `max_nbytes` bytes of data are read.
///
/// If the object is a cut chunk, its error is returned.
///
/// # Errors
///
/// Errors of `admit` and `sink`; errors of writing the data of a Bloscpack file to memory.
pub fn before_damage<E: From<Error> + From<b2frame::Error>>(
    damaged: &Damaged<'_>,
    options: &Options,
    max_nbytes: u64,
    admit: &mut dyn FnMut(u64, u64) -> Result<(), E>,
    sink: Sink<'_, E>,
) -> Result<Option<Error>, E> {
    let head = damaged.head();
    match probe(&head) {
        Kind::Frame | Kind::OlderFrame => {
            let dparams = options.dparams_in(2);
            let open = OpenOptions::default().offset(damaged.at).dparams(dparams);
            let rescue = options.of_container(max_nbytes);
            let saved = match damaged.folder {
                Some(folder) => Salvage::open(folder, &open, &rescue),
                None => Salvage::from_store(Arc::clone(&damaged.store), &open, &rescue),
            };
            if let Ok(saved) = saved {
                good_chunks(&Arc::new(saved.schunk), &saved.chunks, &options.budget, sink)?;
            }
        }
        Kind::Bloscpack => of_blp(damaged, options, admit, sink)?,
        Kind::Chunk | Kind::Unknown => {
            let data = damaged.chunk(options).unwrap_or_default();
            admit(data.len() as u64, damaged.left())?;
            sink(&data)?;
            let header = chunk::header_of(&head).filter(|_| !data.is_empty());
            return Ok(header.map(|it| chunk::truncated(damaged.at, &it, damaged.left())));
        }
        _ => {}
    }
    Ok(None)
}

fn of_blp<E: From<Error>>(
    damaged: &Damaged<'_>,
    options: &Options,
    admit: &mut dyn FnMut(u64, u64) -> Result<(), E>,
    sink: Sink<'_, E>,
) -> Result<(), E> {
    let bytes = Windowed::new(Arc::clone(&damaged.store), damaged.at, damaged.left());
    let Ok(bytes) = bytes else { return Ok(()) };
    let found = bloscpack::rescue(&bytes, &options.dparams_in(2));
    let Ok(mut found) = found else { return Ok(()) };
    let mut data = vec![];
    let chunks = core::mem::take(&mut found.chunks);
    let good = (0..).zip(chunks).take_while(|(nchunk, chunk)| chunk.nchunk == Some(*nchunk));
    for (_, chunk) in good {
        admit(chunk.nbytes, chunk.cbytes)?;
        found.chunks = vec![chunk];
        data.clear();
        found.write_data(&bytes, &mut data, &Fill::Cut, 0).map_err(Error::from)?;
        sink(&data)?;
    }
    Ok(())
}

/// Hands the data before the damage of a value in a store to `sink`: of the named value, or of the
/// only one.
///
/// # Errors
///
/// A recipe for data; the error of `sink`.
pub fn value_before_damage<E: From<Error> + From<b2frame::Error>>(
    path: &Path,
    key: Option<&str>,
    options: &Options,
    max_nbytes: u64,
    sink: Sink<'_, E>,
) -> Result<(), E> {
    let frame = OpenOptions::default().dparams(options.dparams_in(2));
    let open = b2store::OpenOptions::default().frame(frame.clone());
    let rescue = options.of_container(max_nbytes);
    let saved = b2store::rescue::Salvage::open(path, &open, &rescue);
    let Ok(saved) = saved else { return Ok(()) };
    let mut values = saved.values.iter().filter(|value| match key {
        Some(key) => value.key == key,
        None => !value.key.ends_with("/__vlmeta__"),
    });
    let (Some(value), None) = (values.next(), values.next()) else { return Ok(()) };
    let Some(Ok(schunk)) = saved.schunk(&value.key, &frame) else { return Ok(()) };
    let schunk = Arc::new(schunk);
    if let Ok(Content::Recipe(recipe)) = Content::from_schunk(Arc::clone(&schunk), &value.key) {
        let name = value.key.clone();
        return Err(Error::from(b2store::Error::Recipe { name, kind: recipe.kind }).into());
    }
    good_chunks(&schunk, &value.chunks, &options.budget, sink)
}

/// Hands over the content of the chunks before the first bad one; for an array, its whole rows.
fn good_chunks<E: From<Error> + From<b2frame::Error>>(
    schunk: &Arc<SChunk>,
    states: &[ChunkState],
    budget: &Budget,
    sink: Sink<'_, E>,
) -> Result<(), E> {
    let is_good = |state: &&ChunkState| **state == ChunkState::Good;
    let ngood = states.iter().take_while(is_good).count() as u64;
    let Some(array) = schunk.nd_array()? else {
        return schunk.decode_ordered(0..ngood, budget, |_, bytes| sink(bytes));
    };
    let (grid, chunkshape) = (array.meta().grid(), array.chunkshape());
    let chunks_of_row = nbytes(1, grid.iter().skip(1)).max(1);
    let rows =
        (ngood / chunks_of_row).saturating_mul(chunkshape.first().map_or(1, |len| (*len).into()));
    let nrows = array.shape().first().copied().unwrap_or(1);
    let row = array.nbytes() / nrows.max(1);
    frame::part(schunk, 0..rows.min(nrows).saturating_mul(row), budget, sink)
}
