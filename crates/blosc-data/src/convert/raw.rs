//! Conversion to the bytes of the items, with or without a `.npy` header.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
};

use super::{Conversion, Report};
use crate::content::Layout;
use crate::error::{Doing, Error, Result};

impl Conversion<'_> {
    /// Writes items in C order to `path`.
    pub(super) fn raw(&self, path: &Path) -> Result<Report> {
        self.items(path, &[])?;
        Ok(Report::without(self.all_but_data()?))
    }

    /// Writes a `.npy` file to `path`.
    pub(super) fn npy(&self, path: &Path) -> Result<Report> {
        let layout = Layout { fortran_order: false, ..self.layout()? };
        self.items(path, &layout.npy_header()?)?;
        Ok(Report::without(self.content.metadata()?.without_array().names()))
    }

    fn items(&self, path: &Path, header: &[u8]) -> Result<()> {
        let file = File::create_new(path).map_err(Error::io_at(Doing::Create, path))?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        out.write_all(header).map_err(Error::io_at(Doing::Write, path))?;
        let resources = &self.settings.resources;
        self.content.in_c_order(&resources.decoding(), resources.held() / 4, &mut |bytes| {
            (self.progress)(bytes.len() as u64);
            out.write_all(bytes).map_err(Error::io_at(Doing::Write, path))
        })?;
        out.flush().map_err(Error::io_at(Doing::Write, path))
    }
}
