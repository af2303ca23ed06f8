//! Frames one after the other in a file, as `b2 compress` writes them to a pipe.

use core::fmt;
use std::sync::Arc;

use b2frame::SChunk;
use b2frame::probe::{Kind, PROBE_LEN, probe};
use blosc_io::ReadAt;

use crate::dataset::{Data, Dataset};
use crate::error::{Doing, Error, Result};
use crate::format::Format;
use crate::formats::frame;
use crate::group::{Group, Member, MemberKind};
use crate::params::OpenOptions;

/// The data of a file that begins with a frame: of that frame, or a group if more follow. Other
/// bytes end the sequence, as for all readers.
///
/// # Errors
///
/// A frame that cannot be opened.
pub(crate) fn file_data(file: Arc<dyn ReadAt>, name: &str, params: &OpenOptions) -> Result<Data> {
    let first = frame_at(&file, 0, params)?;
    let Some(next) = next_frame(&*file, first.frame_len())? else {
        return frame::data(Arc::new(first), name, &params.budget);
    };
    let mut starts = vec![0];
    let mut at = Some(next);
    while let Some(start) = at {
        starts.push(start);
        let len = frame_at(&file, start, params)?.frame_len();
        at = next_frame(&*file, start.saturating_add(len))?;
    }
    let (params, name) = (params.clone(), name.to_owned());
    Ok(Data::Group(Arc::new(Sequence { file, starts, params, name })))
}

/// The frame that starts at a byte.
///
/// # Errors
///
/// A frame that cannot be opened.
pub(crate) fn frame_at(file: &Arc<dyn ReadAt>, at: u64, params: &OpenOptions) -> Result<SChunk> {
    Ok(SChunk::from_store_with(Arc::clone(file), &params.frame().offset(at))?)
}

/// The position of the frame after the one at `at`; `None` if none follows.
fn next_frame(file: &dyn ReadAt, at: u64) -> Result<Option<u64>> {
    if at == 0 || file.len().map_err(Error::io(Doing::Open))? <= at {
        return Ok(None);
    }
    let mut head = [0; PROBE_LEN];
    let n = file.read_at(at, &mut head).map_err(Error::io(Doing::Read))?;
    let kind = probe(head.get(..n).unwrap_or_default());
    Ok(matches!(kind, Kind::Frame | Kind::OlderFrame).then_some(at))
}

struct Sequence {
    file: Arc<dyn ReadAt>,
    /// Where the frames start (bytes).
    starts: Vec<u64>,
    params: OpenOptions,
    name: String,
}

impl fmt::Debug for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sequence").field("starts", &self.starts).finish_non_exhaustive()
    }
}

impl Group for Sequence {
    fn format(&self) -> &'static str {
        "sequence"
    }

    fn members(&self) -> Result<Vec<Member>> {
        let numbers = 0..self.starts.len();
        Ok(numbers.map(|n| Member::new(n.to_string(), MemberKind::Value)).collect())
    }

    fn open(&self, name: &str) -> Result<Dataset> {
        let number: Option<usize> = name.parse().ok();
        let start = number.and_then(|number| self.starts.get(number));
        let start = *start.ok_or_else(|| Error::NoMember { name: name.to_owned() })?;
        let schunk = Arc::new(frame_at(&self.file, start, &self.params)?);
        let name = format!("{}#{name}", self.name);
        let data = frame::data(schunk, &name, &self.params.budget)?;
        Ok(Dataset::new(name, Format::Frame, data))
    }
}
