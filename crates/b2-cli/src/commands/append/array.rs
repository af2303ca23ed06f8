//! Items along a dimension of an array in a frame.

use b2frame::{NdWriter, SChunkWriter};
use blosc_dtype::Dtype;

use super::{Grown, Input, Work, axis_of};
use crate::{
    content::source::Layout,
    error::{Error, Result},
    memory,
    output::signals,
};

impl Work<'_> {
    pub(super) fn array(&self, offset: u64) -> Result<Grown> {
        let writer =
            SChunkWriter::open_with(self.path, &self.cx.edit_options(offset, self.args.lock))?;
        let mut writer = NdWriter::from_writer(writer)?.budget(self.cx.read_options());
        writer.lock()?;
        signals::grow(&self.cx.unfinished, self.path);
        let grown = self.append_to_array(&mut writer)?;
        self.cx.unfinished.settle(self.path, || writer.commit())?;
        Ok(grown)
    }

    /// The new items, up to a commit.
    pub(super) fn append_to_array(&self, writer: &mut NdWriter) -> Result<Grown> {
        let axis = axis_of(self.args.axis, writer.shape().len())?;
        self.keep_what_is_there(writer.schunk_writer());
        let layouts =
            self.inputs.iter().map(|input| layout(input, writer.dtype(), writer.shape(), axis));
        let layouts = layouts.collect::<Result<Vec<_>>>()?;
        for (input, layout) in self.inputs.iter().zip(layouts) {
            self.means(|by| by.to_array(writer, &input.source, &layout, axis))?;
        }
        let itemsize = writer.dtype().itemsize() as u64;
        let nbytes = memory::nbytes(itemsize, writer.shape());
        Ok(Grown { nbytes, shape: Some(writer.shape().to_vec()) })
    }
}

/// The shape of the input: its own, or the one that its bytes have in the other dimensions of the
/// array.
pub(super) fn layout(input: &Input, dtype: &Dtype, shape: &[u64], axis: usize) -> Result<Layout> {
    let (dtype, mut shape) = (dtype.clone(), shape.to_vec());
    let Some(found) = input.source.layout()?.filter(|_| input.is_array) else {
        let others = shape.iter().enumerate().filter(|(dim, _)| *dim != axis).map(|(_, len)| len);
        let of = memory::nbytes(dtype.itemsize() as u64, others);
        input.check_multiple(of)?;
        shape[axis] = input.source.nbytes()?.checked_div(of).unwrap_or(0);
        return Ok(Layout::in_c_order(dtype, shape));
    };
    let (mut found, own) = (found.clone(), found.shape);
    // An input of one step may lack the dimension that grows.
    if found.shape.len() + 1 == shape.len() && axis < shape.len() {
        found.shape.insert(axis, 1);
    }
    if found.dtype != dtype {
        let (found, expected) = (found.dtype.to_string(), dtype.to_string());
        return Err(Error::OtherType { file: input.name.clone(), found, expected });
    }
    let fits = found.shape.len() == shape.len()
        && found.shape.iter().zip(&shape).enumerate().all(|(dim, (a, b))| dim == axis || a == b);
    if !fits {
        return Err(Error::OtherShape { file: input.name.clone(), found: own, array: shape, axis });
    }
    Ok(found)
}
