//! Verification: finds damage.

use std::sync::Arc;

use b2frame::SChunk;
use b2store::{Content, RecipeKind};
use blosc_container::report::Report as AnyReport;
pub use blosc_container::report::{BadChunk, Progress, VerifyOptions};

use crate::Array;
use crate::dataset::{Data, Dataset};
use crate::error::{Error, Result, chain};
use crate::formats::frame;
use crate::group::{Group, MemberKind};
use crate::limits::{Guard, OutputLimits};
use crate::size::nbytes;

/// The result of a verification: unreadable chunks, other damage, and notes on unusual facts that
/// are harmless.
pub type Report = AnyReport<Error, String>;

/// Gets the progress of a verification.
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
    report.checksum = found.checksum;
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

/// Decodes the chunks of a frame and, if they are sound, the values in them. Values of a later
/// version are noted, and read as bytes.
pub(crate) fn frame(
    schunk: &Arc<SChunk>,
    options: &VerifyOptions,
    progress: OnProgress<'_>,
) -> Report {
    let mut report = report(schunk.verify(options, progress), ToString::to_string);
    if !report.is_ok() {
        return report;
    }
    match Content::from_schunk(Arc::clone(schunk), "values") {
        Ok(Content::Recipe(recipe)) => report.notes.push(no_data(&recipe.kind)),
        Ok(content) => report.other.extend(content.check_values().err().map(Error::Store)),
        Err(error) if frame::is_unknown(&error) => report.notes.push(frame::unread(&error)),
        Err(error) => report.other.push(error.into()),
    }
    report
}

/// Reads all items of an array; the first fault ends that.
pub fn by_reading<A: Array + ?Sized>(array: &A, options: &VerifyOptions) -> Report {
    let nbytes = nbytes(array.dtype().itemsize() as u64, array.shape());
    let read = array.stream(0..nbytes, &options.budget, &mut |_| Ok(()));
    of_reading(read.and_then(|()| array.compare_seals()), nbytes)
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

/// Adds a fault unless the report has it. Recipes and references have no data, which is not damage.
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

/// Adds the name of a group's member to its faults.
pub(crate) fn name_faults(report: &mut Report, name: &str) {
    let other = core::mem::take(&mut report.other).into_iter();
    report.other = other.map(|error| error.of_member(name)).collect();
    let bad = core::mem::take(&mut report.bad).into_iter();
    report.bad = bad.map(|bad| BadChunk { error: bad.error.of_member(name), ..bad }).collect();
    report.notes.iter_mut().for_each(|note| *note = format!("{name}: {note}"));
}

/// Depth to which groups are verified: a group of an opener may hold itself.
const MAX_DEPTH: usize = 32;

/// Decodes all data, compares existing checksums, and changes nothing.
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
/// When the system refuses to read at all. Damage is in the report instead.
pub fn verify(
    found: &Dataset,
    options: &VerifyOptions,
    progress: OnProgress<'_>,
) -> Result<Report> {
    let mut guard = Guard::for_looking(OutputLimits::default());
    Verifier::new(options, &mut guard, progress).data(&found.data)
}

/// Verifies several data with the same options, guard and progress.
pub struct Verifier<'a> {
    options: &'a VerifyOptions,
    guard: &'a mut Guard,
    progress: OnProgress<'a>,
    done: Progress,
    depth: usize,
}

impl core::fmt::Debug for Verifier<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Verifier").field("options", self.options).finish_non_exhaustive()
    }
}

impl<'a> Verifier<'a> {
    /// `guard` must admit data before they are decoded. The progress counts over all data.
    pub fn new(options: &'a VerifyOptions, guard: &'a mut Guard, progress: OnProgress<'a>) -> Self {
        Self { options, guard, progress, done: Progress::default(), depth: 0 }
    }

    /// Verifies data, as [`verify`] does.
    ///
    /// # Errors
    ///
    /// As [`verify`]; [`Error::MaxOutput`], [`Error::MaxRatio`].
    pub fn data(&mut self, data: &Data) -> Result<Report> {
        let frame = match data {
            Data::Bytes(bytes) => bytes.frame(),
            Data::Array(array) => array.frame(),
            Data::Objects(objects) => objects.frame(),
            _ => None,
        };
        match (frame, data) {
            (Some(schunk), _) => self.guard.admit_to_verify(schunk)?,
            (_, Data::Bytes(bytes)) => {
                self.guard.admit_bytes(bytes.nbytes(), bytes.stored_nbytes())?;
            }
            (_, Data::Array(array)) => {
                let nbytes = array.nbytes();
                self.guard.admit_bytes(nbytes, array.stored_nbytes().unwrap_or(nbytes))?;
            }
            (_, Data::Table(table)) => {
                let (nbytes, stored) = table.sizes();
                self.guard.admit_bytes(nbytes, stored)?;
            }
            _ => {}
        }
        match data {
            Data::Bytes(bytes) => self.counted(|options, on| bytes.verify(options, on)),
            Data::Array(array) => self.counted(|options, on| array.verify(options, on)),
            Data::Table(table) => self.counted(|options, on| table.verify(options, on)),
            Data::Objects(objects) => self.counted(|options, on| objects.verify(options, on)),
            Data::Recipe(recipe) => {
                let mut report = Report::default();
                report.notes.push(no_data(&recipe.kind));
                Ok(report)
            }
            Data::Group(_) if self.depth == MAX_DEPTH => Err(Error::Depth { max: MAX_DEPTH }),
            Data::Group(group) => {
                self.depth = self.depth.saturating_add(1);
                let found = group.verify(self);
                self.depth = self.depth.saturating_sub(1);
                found
            }
        }
    }

    /// Verifies one object, and adds its progress to the total.
    pub(crate) fn counted(
        &mut self,
        work: impl FnOnce(&VerifyOptions, OnProgress<'_>) -> Result<Report>,
    ) -> Result<Report> {
        let Progress { nchunks, nbytes } = self.done;
        let progress = &mut *self.progress;
        let report = work(self.options, &mut |now: Progress| {
            let nchunks = nchunks.saturating_add(now.nchunks);
            progress(Progress { nchunks, nbytes: nbytes.saturating_add(now.nbytes) });
        })?;
        self.done.nchunks = nchunks.saturating_add(report.nchunks);
        self.done.nbytes = nbytes.saturating_add(report.nbytes);
        Ok(report)
    }

    /// The guard of all decoded data.
    pub(crate) fn guard(&mut self) -> &mut Guard {
        self.guard
    }

    /// Verifies the members of a group: its attributes, those of inner groups, and all members with
    /// data.
    ///
    /// # Errors
    ///
    /// As [`data`](Self::data); a group that cannot be listed.
    pub fn members(&mut self, group: &(impl Group + ?Sized)) -> Result<Report> {
        let mut report = of_reading(group.attributes().map(drop), 0);
        for member in group.members()? {
            let found = group.open(&member.name);
            let found = found.and_then(|found| match (&found.data, member.kind) {
                // The outer group lists the members of inner groups as well.
                (Data::Group(inner), MemberKind::Group) => {
                    Ok(of_reading(inner.attributes().map(drop), 0))
                }
                _ => self.data(&found.data),
            });
            let mut found = match found {
                Err(error @ (Error::MaxOutput { .. } | Error::MaxRatio { .. })) => {
                    return Err(error);
                }
                found => found.unwrap_or_else(|error| of_reading(Err(error), 0)),
            };
            name_faults(&mut found, &member.name);
            report.merge(found);
        }
        Ok(report)
    }
}
