//! Rescue of cut NumPy arrays and archives of them: the rows and arrays that are left.

use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use b2store::{ArchiveMember, archive_members, joined_archive, surviving_members};
use blosc_dtype::npy::NpyHeader;
use blosc_io::{Joined, ReadAt, Windowed};

use super::{Caller, Job, Output, Report};
use crate::error::{Doing, Error, Result};
use crate::formats::npz;
use crate::size::{as_len, check_memory};

/// Longest header that is read (bytes).
const MAX_HEADER: usize = 1 << 20;

/// Bytes that are copied at once.
const PIECE: usize = 1 << 20;

/// Rescues a `.npy` file.
pub(super) fn run<C: Caller>(job: Job<'_>, caller: &mut C) -> Result<Report, C::Error> {
    let store = job.unread.file(job.path)?;
    let rows = Rows::find(Arc::clone(&store))?.ok_or(Error::NothingRescued)?;
    let stored = store.len().map_err(Error::io(Doing::Read))?;
    write(&rows.file()?, rows.nbytes, stored, caller)?;
    let (nbytes, complete) = (rows.nbytes, rows.is_complete());
    let actions = if complete { vec![] } else { vec![rows.text()] };
    Ok(Report { complete, nbytes, actions, ..Report::default() })
}

/// Rescues an archive: its whole arrays, and the remaining rows of others.
pub(super) fn run_archive<C: Caller>(job: Job<'_>, caller: &mut C) -> Result<Report, C::Error> {
    let store = job.unread.file(job.path)?;
    let mut all = Report { complete: true, ..Report::default() };
    let members = archive_members(&store).or_else(|error| {
        all.complete = false;
        all.actions.push(format!("{error}; arrays are found by the headers before them"));
        surviving_members(&store)
    });
    let members = members.map_err(Error::from)?;
    let (mut files, mut held): (Vec<(String, Arc<dyn ReadAt>)>, _) = (vec![], 0_u64);
    for member in &members {
        let name = &member.name;
        held = held.saturating_add(if member.is_packed { member.nbytes } else { 0 });
        check_memory(held, job.options.budget.max_memory)?;
        let whole = npz::plain(&store, member).and_then(|plain| {
            member.check(&*plain)?;
            Ok(plain)
        });
        let rows = match &whole {
            Ok(plain) => Rows::find(Arc::clone(plain))?,
            Err(_) => stored_part(&store, member).map_or(Ok(None), Rows::find)?,
        };
        match (whole, rows) {
            (Ok(file), rows) => {
                let nbytes = rows.map_or(0, |rows| rows.nbytes);
                all.nbytes = all.nbytes.saturating_add(nbytes);
                files.push((name.clone(), file));
            }
            (Err(error), Some(rows)) => {
                all.complete = false;
                all.nbytes = all.nbytes.saturating_add(rows.nbytes);
                let text = if rows.is_complete() { error.to_string() } else { rows.text() };
                all.actions.push(format!("doubtful: {name}: {text}"));
                files.push((name.clone(), rows.file()?));
            }
            (Err(error), None) => {
                all.complete = false;
                all.actions.push(format!("lost: {name}: {error}"));
            }
        }
    }
    if files.is_empty() {
        return Err(Error::NothingRescued.into());
    }
    let archive = joined_archive(files).map_err(Error::from)?;
    let stored = store.len().map_err(Error::io(Doing::Read))?;
    write(&archive, all.nbytes, stored, caller)?;
    Ok(all)
}

/// Writes a file of `nbytes` bytes of data, which come from `stored` bytes.
fn write<C: Caller>(
    file: &Arc<dyn ReadAt>,
    nbytes: u64,
    stored: u64,
    caller: &mut C,
) -> Result<(), C::Error> {
    caller.admit(nbytes, stored)?;
    let target = caller.output(Output::File)?;
    let mut output = File::create(target).map_err(Error::io(Doing::Write))?;
    let (mut buf, mut at) = (vec![0; PIECE], 0_u64);
    loop {
        let n = file.read_at(at, &mut buf).map_err(Error::io(Doing::Read))?;
        if n == 0 {
            return Ok(());
        }
        output.write_all(buf.get(..n).unwrap_or_default()).map_err(Error::io(Doing::Write))?;
        at = at.saturating_add(n as u64);
    }
}

/// The remaining bytes of a member that zip has not compressed.
fn stored_part(store: &Arc<dyn ReadAt>, member: &ArchiveMember) -> Option<Arc<dyn ReadAt>> {
    let left = store.len().ok()?.checked_sub(member.position)?;
    let nbytes = left.min(member.stored_nbytes);
    let window = Windowed::new(Arc::clone(store), member.position, nbytes).ok();
    Some(Arc::new(window.filter(|_| !member.is_packed)?))
}

/// The whole rows of an array that are in the file; the slowest dimension counts them.
struct Rows {
    store: Arc<dyn ReadAt>,
    header: NpyHeader,
    nrows: u64,
    /// The number of rows in the header.
    total: u64,
    nbytes: u64,
}

impl Rows {
    /// The rows of a file; `None` if it has none, or is not an array.
    fn find(store: Arc<dyn ReadAt>) -> Result<Option<Self>> {
        let len = store.len().map_err(Error::io(Doing::Read))?;
        let mut head = vec![0; as_len(len).min(MAX_HEADER)];
        store.read_exact_at(0, &mut head).map_err(Error::io(Doing::Read))?;
        let Ok(mut header) = NpyHeader::parse(&head) else { return Ok(None) };
        let left = len.saturating_sub(header.len as u64);
        let itemsize = header.dtype.itemsize() as u64;
        let slowest =
            if header.fortran_order { header.shape.last_mut() } else { header.shape.first_mut() };
        let Some(slowest) = slowest else {
            let (nrows, nbytes) = ((left >= itemsize).into(), itemsize);
            let rows = Self { store, header, nrows, total: 1, nbytes };
            return Ok(Some(rows).filter(|rows| rows.nrows == 1));
        };
        let total = core::mem::replace(slowest, 1);
        let each = header.shape.iter().fold(itemsize, |all, len| all.saturating_mul(*len));
        let nrows = left.checked_div(each).map_or(total, |nrows| nrows.min(total));
        let position = if header.fortran_order { header.shape.len() - 1 } else { 0 };
        header.shape[position] = nrows;
        let nbytes = nrows.saturating_mul(each);
        let rows = Self { store, header, nrows, total, nbytes };
        Ok(Some(rows).filter(|rows| rows.nrows > 0 || rows.total == 0))
    }

    fn is_complete(&self) -> bool {
        self.nrows == self.total
    }

    /// The words for the loss.
    fn text(&self) -> String {
        format!("cut: {} of {} rows are there", self.nrows, self.total)
    }

    /// A `.npy` file with the rows.
    fn file(&self) -> Result<Arc<dyn ReadAt>> {
        let header = self.header.to_bytes().ok_or(Error::NothingRescued)?;
        let rows = Windowed::new(Arc::clone(&self.store), self.header.len as u64, self.nbytes);
        let mut file = Joined::new();
        file.push_bytes(header);
        file.push(Arc::new(rows.map_err(Error::io(Doing::Read))?), self.nbytes);
        Ok(Arc::new(file))
    }
}
