//! What stands before the damage of an input that does not open: `b2 cat` writes it, as gzip does.

use std::{path::Path, sync::Arc};

use b2frame::{
    Budget, OpenOptions, SChunk, probe,
    probe::Kind,
    rescue::{ChunkState, RescueOptions, Salvage},
};
use blosc_chunk::{DParams, Limits};
use blosc_container::rescue::{ChunkSalvage, Fill};
use blosc_io::{ReadAt, Windowed};

use crate::{
    args::LimitArgs,
    context::Context,
    error::{Error, Result},
    exit::Code,
    formats::{chunk, store},
    inputs::{
        decoded::{self, Guard, Sink},
        origin::{Origin, Part},
    },
};

/// Where an object starts that does not open.
pub(crate) struct Damaged<'a> {
    /// Its bytes, with others before and after them perhaps.
    pub(crate) store: Arc<dyn ReadAt>,
    /// Where in the store it starts (bytes).
    pub(crate) at: u64,
    /// The directory, if it is a sparse frame.
    pub(crate) folder: Option<&'a Path>,
    pub(crate) dparams: &'a DParams,
}

/// What to read with.
pub(crate) struct Reading<'a> {
    pub(crate) cx: &'a Context,
    pub(crate) limits: LimitArgs,
}

impl Reading<'_> {
    /// Hands the data before the damage of an object to `sink`, and gives the error that tells of
    /// the damage: `error`, unless the data tell more.
    ///
    /// # Errors
    ///
    /// Limits; the error of `sink`.
    pub(crate) fn object(
        &self,
        damaged: &Damaged<'_>,
        error: Error,
        sink: Sink<'_>,
    ) -> Result<Error> {
        // A chunk has no magic: that of an input of any name is one if its blocks decode.
        let perhaps = match error {
            Error::PerhapsChunk { cbytes, found: Some(found) } if found < cbytes => true,
            _ if error.code() == Code::Data => false,
            _ => return Ok(error),
        };
        match damaged.head().map_or(Kind::Unknown, |head| probe(&head)) {
            Kind::Frame | Kind::OlderFrame => self.frame(damaged, sink)?,
            Kind::Bloscpack => self.blp(damaged, sink)?,
            Kind::Chunk | Kind::Unknown => {
                let data = damaged.chunk(self.cx.memory() / 4).unwrap_or_default();
                Guard::new(self.limits).admit_bytes(data.len() as u64, damaged.left())?;
                sink(&data)?;
                let header = damaged.head().and_then(|head| chunk::header_of(&head));
                if let Some(header) = header.filter(|_| perhaps && !data.is_empty()) {
                    return Ok(chunk::truncated(damaged.at, &header, damaged.left()).into());
                }
            }
            _ => {}
        }
        Ok(error)
    }

    fn frame(&self, damaged: &Damaged<'_>, sink: Sink<'_>) -> Result<()> {
        let dparams = damaged.dparams.clone().limits(self.limits_of_chunk());
        let options = OpenOptions::default().offset(damaged.at).dparams(dparams);
        let rescue = self.rescue_options(damaged.left());
        let saved = match damaged.folder {
            Some(folder) => Salvage::open(folder, &options, &rescue),
            None => Salvage::from_store(Arc::clone(&damaged.store), &options, &rescue),
        };
        match saved {
            Ok(saved) => self.good_chunks(&Arc::new(saved.schunk), &saved.chunks, sink),
            Err(_) => Ok(()),
        }
    }

    fn blp(&self, damaged: &Damaged<'_>, sink: Sink<'_>) -> Result<()> {
        let Ok(bytes) = Windowed::new(Arc::clone(&damaged.store), damaged.at, damaged.left())
        else {
            return Ok(());
        };
        let dparams = damaged.dparams.clone().limits(self.limits_of_chunk());
        let Ok(mut found) = bloscpack::rescue(&bytes, &dparams) else { return Ok(()) };
        let mut guard = Guard::new(self.limits);
        let mut data = vec![];
        let chunks = core::mem::take(&mut found.chunks);
        let good = (0..).zip(chunks).take_while(|(nchunk, chunk)| chunk.nchunk == Some(*nchunk));
        for (_, chunk) in good {
            guard.admit_bytes(chunk.nbytes, chunk.cbytes)?;
            found.chunks = vec![chunk];
            data.clear();
            found.write_data(&bytes, &mut data, &Fill::Cut, 0)?;
            sink(&data)?;
        }
        Ok(())
    }

    /// The same of a value of a store: the one that is named, or the only one that is there.
    ///
    /// # Errors
    ///
    /// Limits; the error of `sink`.
    pub(crate) fn store(&self, origin: &Origin, error: Error, sink: Sink<'_>) -> Result<Error> {
        let Origin::File { path, part } = origin else { return Ok(error) };
        if error.code() != Code::Data || !path.is_store() {
            return Ok(error);
        }
        let dparams = self.cx.dparams().limits(self.limits_of_chunk());
        let frame = OpenOptions::default().dparams(dparams);
        let options = b2store::OpenOptions::default().frame(frame.clone());
        let rescue = self.rescue_options(path.metadata().map_or(0, |found| found.len()));
        let saved = b2store::rescue::Salvage::open(path, &options, &rescue);
        let Ok(saved) = saved else { return Ok(error) };
        let mut values = saved.values.iter().filter(|value| match part {
            Part::Member(key) => value.key == *key,
            _ => !value.key.ends_with("/__vlmeta__"),
        });
        let (Some(value), None) = (values.next(), values.next()) else { return Ok(error) };
        let Some(Ok(schunk)) = saved.schunk(&value.key, &frame) else { return Ok(error) };
        let schunk = Arc::new(schunk);
        store::refuse_recipe(&schunk, &value.key)?;
        self.good_chunks(&schunk, &value.chunks, sink)?;
        Ok(error)
    }

    /// Hands over the chunks before the first one that is not good.
    fn good_chunks(
        &self,
        schunk: &Arc<SChunk>,
        states: &[ChunkState],
        sink: Sink<'_>,
    ) -> Result<()> {
        let is_good = |state: &&ChunkState| **state == ChunkState::Good;
        let ngood = states.iter().take_while(is_good).count() as u64;
        let budget: Budget = self.cx.read_options();
        decoded::first_chunks(schunk, ngood, &budget, sink)
    }

    fn limits_of_chunk(&self) -> Limits {
        Limits::none().max_nbytes(self.cx.memory() / 2)
    }

    fn rescue_options(&self, stored: u64) -> RescueOptions {
        RescueOptions::default().max_nbytes(Some(Guard::allowance(self.limits, stored)))
    }
}

impl Damaged<'_> {
    /// Bytes from its start on.
    fn left(&self) -> u64 {
        self.store.len().map_or(0, |len| len.saturating_sub(self.at))
    }

    /// Its first bytes, as many as there are up to those that tell its format.
    fn head(&self) -> Option<Vec<u8>> {
        let len = self.left().min(HEAD_NBYTES);
        let mut head = vec![0; usize::try_from(len).ok()?];
        self.store.read_exact_at(self.at, &mut head).ok()?;
        Some(head)
    }

    /// The data of a bare chunk up to its first block that cannot be read. Chunk and data have at
    /// most `max_nbytes` bytes each.
    fn chunk(&self, max_nbytes: u64) -> Option<Vec<u8>> {
        chunk::header_of(&self.head()?)?;
        let len = usize::try_from(self.left()).ok().filter(|_| self.left() <= max_nbytes)?;
        let mut bytes = vec![0; len];
        self.store.read_exact_at(self.at, &mut bytes).ok()?;
        let dparams = self.dparams.clone().limits(Limits::none().max_nbytes(max_nbytes));
        let saved = ChunkSalvage::from_bytes(&bytes, &dparams, &RescueOptions::default()).ok()?;
        Some(saved.data_before_damage().to_vec())
    }
}

/// Bytes that tell the format of an object.
const HEAD_NBYTES: u64 = 87;
