//! Outputs that appear whole or not at all.

use std::path::Path;

use blosc_io::replace::{Carry, ReplaceOptions, Replacement};

use super::{Conversion, OnProgress, Report, Settings};
use crate::content::{Content, of_file};
use crate::error::{Doing, Error, Result};

/// An output that is being written. The old file stays until [`commit`](Self::commit).
#[derive(Debug)]
pub struct Sink {
    place: Replacement,
    settings: Settings,
}

/// Starts an output for one content at `target`, in place of a file, but never of a folder.
///
/// # Errors
///
/// When no temporary file can be made beside the target.
pub fn create(target: &Path, settings: Settings) -> Result<Sink> {
    let options = ReplaceOptions {
        durability: settings.durability,
        unfinished: settings.unfinished.clone(),
        ..ReplaceOptions::default()
    };
    let place = Replacement::folder(target, options);
    Ok(Sink { place: place.map_err(Error::io_at(Doing::Create, target))?, settings })
}

impl Sink {
    /// Writes the content; may be called once.
    ///
    /// # Errors
    ///
    /// As [`Conversion::write`].
    pub fn write(&mut self, content: &Content, progress: OnProgress<'_>) -> Result<Report> {
        let conversion = Conversion::new(content, &self.settings);
        Conversion { progress, ..conversion }.write(self.place.path())
    }

    /// Renames the output to its target.
    ///
    /// # Errors
    ///
    /// When the system refuses, or a folder has the name.
    pub fn commit(self) -> Result<()> {
        let target = self.place.target().to_owned();
        self.place.commit(Carry::Target).map_err(Error::io_at(Doing::Write, &target))
    }
}

/// Converts the file or folder at `from` to one at `to`.
///
/// ```
/// use blosc_data::convert::{OutputFormat, Settings, convert};
///
/// # let dir = tempfile::tempdir()?;
/// # let (from, to) = (dir.path().join("grid.b2nd"), dir.path().join("grid.npy"));
/// # let params = b2frame::NdParams::new(&[3, 4], "<i4".parse()?);
/// # b2frame::NdWriter::create(&from, &params)?.finish()?;
/// let report = convert(&from, &to, Settings::default().format(OutputFormat::Npy), &|_| ())?;
/// assert_eq!(report.nbytes, 48);
/// assert_eq!(blosc_data::open(&to)?.into_array()?.shape(), [3, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`of_file`], [`create`] and [`Sink::write`]. The file at `to` is then unchanged.
pub fn convert(
    from: &Path,
    to: &Path,
    settings: Settings,
    progress: OnProgress<'_>,
) -> Result<Report> {
    let content = of_file(from, &settings.open)?;
    let mut sink = create(to, settings)?;
    let report = sink.write(&content, progress)?;
    sink.commit()?;
    Ok(report)
}
