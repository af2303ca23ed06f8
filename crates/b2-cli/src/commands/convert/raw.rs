//! To the bytes of the items, with or without the header of a `.npy` file before them.

use std::{fs::File, path::Path};

use super::{Done, Work, source::Layout};
use crate::{
    error::{Doing, Error, Result},
    output::Sink,
};

impl Work<'_> {
    /// Writes items in C order to `path`.
    pub(super) fn raw(&self, path: &Path) -> Result<Done> {
        self.items(path, &[])?;
        Ok(Done { left_out: self.all_but_data()?, ..Done::default() })
    }

    /// Writes an array for NumPy to `path`.
    pub(super) fn npy(&self, path: &Path) -> Result<Done> {
        let layout = Layout { fortran_order: false, ..self.layout()? };
        self.items(path, &layout.npy_header()?)?;
        Ok(Done { left_out: self.source.metadata()?.without_array().names(), ..Done::default() })
    }

    fn items(&self, path: &Path, header: &[u8]) -> Result<()> {
        let file = File::create_new(path).map_err(Error::io_at(Doing::Create, path))?;
        let mut sink = Sink::file(file, path);
        sink.write(header)?;
        self.source.in_c_order(&self.cx.read_options(), self.cx.memory() / 4, &mut |bytes| {
            self.progress.add(bytes.len() as u64);
            sink.write(bytes)
        })?;
        sink.finish()
    }
}
