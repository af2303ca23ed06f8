//! Rows after the last of an array or a table of bcolz.

use std::{ffi::OsStr, sync::Arc};

use bcolz_store::{CArrayWriter, CTableWriter, DataSet, OpenOptions, tree::DirTree};
use blosc_data::convert::{each_rows, split};
use blosc_dtype::Dtype;

use super::{Grown, Work, array::layout, first_axis};
use crate::{
    error::{Error, Result, message},
    formats::Bcolz,
    inputs::Sink,
    memory,
    render::path_text,
};

impl Work<'_> {
    pub(super) fn bcolz(&self, set: Bcolz) -> Result<Grown> {
        let (dtype, mut shape) = (set.dtype()?, set.shape());
        first_axis(self.args.axis, shape.len())?;
        let is_table = matches!(set.set, DataSet::CTable(_));
        if let Some(bytes) = self.inputs.iter().find(|input| is_table && !input.is_array) {
            let error = Box::new(message::ROWS_HAVE_FIELDS.error());
            return Err(Error::Input { file: bytes.name.clone(), error });
        }
        let layouts = self.inputs.iter().map(|input| layout(input, &dtype, &shape, 0));
        let rows = layouts.map(|layout| Ok(layout?.shape.first().copied().unwrap_or(0)));
        let rows = rows.sum::<Result<u64>>()?;
        // The append has made the sizes of the open data set stale.
        drop(set);
        if is_table {
            self.table(&dtype)?
        } else {
            self.carray()?
        }
        if let Some(len) = shape.first_mut() {
            *len += rows;
        }
        let itemsize = dtype.itemsize() as u64;
        let nbytes = memory::nbytes(itemsize, &shape);
        Ok(Grown { nbytes, shape: Some(shape) })
    }

    fn carray(&self) -> Result<()> {
        let table = self.path.parent().map(bcolz_store::open);
        let name = self.path.file_name().and_then(OsStr::to_str);
        if let Some(Ok(DataSet::CTable(table))) = table
            && table.names().any(|column| Some(column) == name)
        {
            return Err(message::A_COLUMN.about(path_text(self.path)));
        }
        let mut writer = CArrayWriter::open_in(self.tree(), "", &self.open_options())?;
        self.rows_of_all(writer.rowsize(), &mut |rows| Ok(writer.append(rows)?))?;
        Ok(writer.finish()?)
    }

    fn table(&self, dtype: &Dtype) -> Result<()> {
        let mut writer = CTableWriter::open_in(self.tree(), "", &self.open_options())?;
        let mut parts = vec![vec![]; dtype.fields().len()];
        self.rows_of_all(dtype.itemsize(), &mut |rows| {
            split(rows, dtype, &mut parts);
            Ok(writer.append(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>())?)
        })?;
        Ok(writer.finish()?)
    }

    fn tree(&self) -> Arc<DirTree> {
        Arc::new(DirTree::new(self.path))
    }

    fn open_options(&self) -> OpenOptions {
        self.cx.read_params().bcolz().lock(self.cx.lock_wait(self.args.lock))
    }

    /// The rows of one input after the other.
    fn rows_of_all(&self, rowsize: usize, sink: Sink<'_>) -> Result<()> {
        self.inputs.iter().try_for_each(|input| {
            each_rows(&input.source, self.cx.resources(), rowsize, &mut |rows| {
                self.progress.add(rows.len() as u64);
                sink(rows)
            })
        })
    }
}
