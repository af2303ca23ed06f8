//! Looking for damage.

use b2store::RecipeKind;
use blosc_container::report::Report as AnyReport;
pub use blosc_container::report::{BadChunk, Progress, VerifyOptions};

use crate::dataset::{Data, Dataset};
use crate::error::{Error, Result, chain};
use crate::group::{Group, MemberKind};

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
        Err(error) => add_fault(&mut report, error),
    }
    report
}

/// Adds a fault that is not known yet. Recipes and references have no data, which is no fault.
pub(crate) fn add_fault(report: &mut Report, error: Error) {
    if let Error::Store(b2store::Error::Recipe { kind, .. }) = &error {
        report.notes.push(no_data(kind));
        return;
    }
    if !is_known(report, &error) {
        report.other.push(error);
    }
}

fn is_known(report: &Report, error: &Error) -> bool {
    let text = chain(error);
    report.other.iter().any(|known| chain(known) == text)
}

fn no_data(kind: &RecipeKind) -> String {
    format!("{kind}, which is not resolved: it has no data")
}

/// Adds what a member of a group has, under its name, but for what is known of the group.
pub(crate) fn add_member(report: &mut Report, name: &str, mut found: Report) {
    found.other.retain(|error| !is_known(report, error));
    found.other = found.other.into_iter().map(|error| error.of_member(name)).collect();
    found.notes = found.notes.iter().map(|note| format!("{name}: {note}")).collect();
    let bad = found.bad.into_iter();
    found.bad = bad.map(|bad| BadChunk { error: bad.error.of_member(name), ..bad }).collect();
    report.merge(found);
}

/// Groups within groups are looked at to this depth: one that an opener gives may hold itself.
const MAX_DEPTH: usize = 32;

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
    verify_at(0, found, options, progress)
}

fn verify_at(
    depth: usize,
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
            report.notes.push(no_data(&recipe.kind));
            Ok(report)
        }
        Data::Group(_) if depth == MAX_DEPTH => Err(Error::Depth { max: MAX_DEPTH }),
        Data::Group(group) => verify_group(depth, &**group, options, progress),
    }
}

/// The group itself, its attributes and those of the groups in it, and all that has data.
fn verify_group(
    depth: usize,
    group: &dyn Group,
    options: &VerifyOptions,
    progress: OnProgress<'_>,
) -> Result<Report> {
    let mut report = group.verify(options)?;
    if let Err(error) = group.attributes() {
        add_fault(&mut report, error);
    }
    for member in group.members()? {
        let found = group.open(&member.name);
        let found = found.and_then(|found| match (&found.data, member.kind) {
            // The members of groups within are listed with those of the group.
            (Data::Group(inner), MemberKind::Group) => {
                Ok(of_reading(inner.attributes().map(drop), 0))
            }
            _ => verify_at(depth.saturating_add(1), &found, options, progress),
        });
        let found = found.unwrap_or_else(|error| of_reading(Err(error), 0));
        add_member(&mut report, &member.name, found);
    }
    Ok(report)
}
