//! Looking for damage.

use core::fmt::Display;

use blosc_container::report::Report as AnyReport;
pub use blosc_container::report::{BadChunk, Progress, VerifyOptions};

use crate::dataset::{Data, Dataset};
use crate::error::{Error, Result};
use crate::group::MemberKind;

/// What verifying found: chunks that cannot be read, other damage, and notes on what is unusual and
/// does no harm.
pub type Report = AnyReport<Error, String>;

/// Told now and then how far verifying has come.
pub type OnProgress<'a> = &'a mut dyn FnMut(Progress);

/// The report of a format with the errors of this crate and its notes in words.
pub(crate) fn report<E: Into<Error>, N>(
    found: AnyReport<E, N>,
    note: impl Fn(&N) -> String,
) -> Report {
    let mut report = Report::default();
    report.nchunks = found.nchunks;
    report.nbytes = found.nbytes;
    report.nsummed = found.nsummed;
    report.nbad = found.nbad;
    report.suspected = found.suspected;
    report.notes = found.notes.iter().map(note).collect();
    report.other = found.other.into_iter().map(Into::into).collect();
    let bad = |bad: BadChunk<E>| BadChunk {
        nchunk: bad.nchunk,
        offset: bad.offset,
        error: bad.error.into(),
    };
    report.bad = found.bad.into_iter().map(bad).collect();
    report
}

/// A report of one fault, or of none, about `nbytes` bytes of data.
pub(crate) fn of_reading(read: Result<()>, nbytes: u64) -> Report {
    let mut report = Report::default();
    match read {
        Ok(()) => report.nbytes = nbytes,
        Err(error) => report.other.push(error),
    }
    report
}

/// Adds what a member of a group has, under its name.
fn add_member(report: &mut Report, name: &str, mut found: Report) {
    let named = |source| Error::Member { name: name.to_owned(), source: Box::new(source) };
    let note = |note: &dyn Display| format!("{name}: {note}");
    found.other = found.other.into_iter().map(named).collect();
    found.notes = found.notes.iter().map(|text| note(text)).collect();
    let bad = found.bad.into_iter();
    found.bad = bad.map(|bad| BadChunk { error: named(bad.error), ..bad }).collect();
    report.merge(found);
}

/// Decodes all that is there, compares checksums where there are any, and changes nothing.
///
/// ```
/// use blosc_data::{OpenOptions, verify, verify::VerifyOptions};
///
/// let mut frame = b2frame::to_cframe(&[7; 1000], &b2frame::FrameParams::default())?;
/// let whole = blosc_data::open_bytes(frame.clone(), "frame", &OpenOptions::default())?;
/// assert!(verify::verify(&whole, &VerifyOptions::default(), &mut |_| ())?.is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Only where the system refuses to read at all; damage is in the report.
pub fn verify(
    found: &Dataset,
    options: &VerifyOptions,
    progress: OnProgress<'_>,
) -> Result<Report> {
    match &found.data {
        Data::Bytes(bytes) => bytes.verify(options, progress),
        Data::Array(array) => array.verify(options, progress),
        Data::Table(table) => table.verify(options, progress),
        Data::Objects(objects) => objects.verify(options, progress),
        Data::Recipe(recipe) => {
            let mut report = Report::default();
            report.notes.push(format!("{}, which is not resolved: it has no data", recipe.kind));
            Ok(report)
        }
        Data::Group(group) => {
            let mut report = group.verify(options)?;
            for member in group.members()? {
                if member.kind == MemberKind::Group {
                    continue;
                }
                let found = group.open(&member.name);
                let found = match found.and_then(|found| verify(&found, options, progress)) {
                    Ok(found) => found,
                    Err(error) => of_reading(Err(error), 0),
                };
                add_member(&mut report, &member.name, found);
            }
            Ok(report)
        }
    }
}
