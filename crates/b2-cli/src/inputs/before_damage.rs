//! The data before the damage of an input that does not open. `b2 cat` writes them, as gzip does.

use blosc_data::{
    limits::OutputLimits,
    rescue::{self, Damaged, Options},
};

use crate::{
    args::LimitArgs,
    context::Context,
    error::{Error, Result},
    exit::Code,
    inputs::{Guard, Origin, Part, Sink},
};

/// The tools to read with.
pub(crate) struct Reading<'a> {
    pub(crate) cx: &'a Context,
    pub(crate) limits: LimitArgs,
}

impl Reading<'_> {
    /// Hands the data before the damage of an object to `sink`. Returns the error to report:
    /// `error`, unless reading the data gives a more precise one.
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
        // A chunk has no magic: an input of any name is one if its blocks decode.
        let perhaps = match error {
            Error::PerhapsChunk { cbytes, found: Some(found) } if found < cbytes => true,
            _ if error.code() == Code::Data => false,
            _ => return Ok(error),
        };
        let mut guard = Guard::new(self.limits);
        let admit = &mut |nbytes, stored| Ok(guard.admit_bytes(nbytes, stored)?);
        let allowed = self.allowance(damaged.left());
        let cut = rescue::before_damage(damaged, &self.options(), allowed, admit, sink)?;
        Ok(cut.filter(|_| perhaps).map_or(error, Error::from))
    }

    /// The data before damage of a value of a store: the named one, or the only one.
    ///
    /// # Errors
    ///
    /// Limits; the error of `sink`.
    pub(crate) fn store(&self, origin: &Origin, error: Error, sink: Sink<'_>) -> Result<Error> {
        let Origin::File { path, part } = origin else { return Ok(error) };
        if error.code() != Code::Data || !path.is_store() {
            return Ok(error);
        }
        let key = match part {
            Part::Member(key) => Some(key.as_str()),
            _ => None,
        };
        let stored = path.metadata().map_or(0, |found| found.len());
        let allowed = self.allowance(stored);
        rescue::value_before_damage(path, key, &self.options(), allowed, sink)?;
        Ok(error)
    }

    fn allowance(&self, stored: u64) -> u64 {
        OutputLimits::from(self.limits).allowance(stored)
    }

    fn options(&self) -> Options {
        Options::default().dparams(self.cx.dparams()).budget(self.cx.read_options())
    }
}
