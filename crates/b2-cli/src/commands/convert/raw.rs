//! To the bytes of the items, with or without the header of a `.npy` file before them.

use std::{fs::File, path::Path};

use blosc_dtype::npy::NpyHeader;

use super::{Done, Work, frame::ARRAY};
use crate::{
    error::{Doing, Error, Result, message},
    output::Sink,
};

impl Work<'_> {
    /// Writes items in C order to `path`.
    pub(super) fn raw(&self, path: &Path) -> Result<Done> {
        self.items(path, &[])?;
        let array = self.source.layout()?.map(|_| ARRAY.to_owned());
        let left_out = self.source.metadata()?.without_array().names().into_iter().chain(array);
        Ok(Done { left_out: left_out.collect(), ..Done::default() })
    }

    /// Writes an array for NumPy to `path`.
    pub(super) fn npy(&self, path: &Path) -> Result<Done> {
        let layout = self.layout()?;
        let header = NpyHeader::new(layout.dtype.clone(), layout.shape.clone()).to_bytes();
        let no_descr = || message::NO_NPY_DTYPE.about(layout.dtype);
        self.items(path, &header.ok_or_else(no_descr)?)?;
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
