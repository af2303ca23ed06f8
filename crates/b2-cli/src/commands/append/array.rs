//! Items along a dimension of an array in a frame.
//!
//! Along the first dimension rows are taken as they come, in bands that end where chunks end. Along
//! another one the array grows first, and its new part is filled in boxes.

use b2frame::{NdWriter, SChunkWriter, nd::Pick};
use blosc_dtype::Dtype;

use super::{Grown, Input, Work};
use crate::{
    content::source::Layout,
    error::{Error, Result},
    formats::{
        Boxes,
        stored_array::{BoxSource, count},
    },
    memory,
    output::signals,
};

impl Work<'_> {
    pub(super) fn array(&self, offset: u64) -> Result<Grown> {
        let writer = SChunkWriter::open_with(
            self.path,
            &self.cx.edit_options(self.path, offset, self.args.lock),
        )?;
        let mut writer = NdWriter::from_writer(writer)?.budget(self.cx.read_options());
        writer.lock()?;
        signals::grow(&self.cx.unfinished, self.path);
        let grown = self.append_to_array(&mut writer)?;
        self.cx.unfinished.settle(self.path, || writer.commit())?;
        Ok(grown)
    }

    /// The new items, up to a commit.
    pub(super) fn append_to_array(&self, writer: &mut NdWriter) -> Result<Grown> {
        self.check_axis(writer.shape().len())?;
        self.keep_what_is_there(writer.schunk_writer());
        let layouts = self
            .inputs
            .iter()
            .map(|input| layout(input, writer.dtype(), writer.shape(), self.args.axis));
        let layouts = layouts.collect::<Result<Vec<_>>>()?;
        for (input, layout) in self.inputs.iter().zip(layouts) {
            match self.args.axis {
                _ if layout.shape.contains(&0) => {}
                0 => self.rows(writer, input)?,
                axis => self.boxes(writer, input, &layout, axis)?,
            }
        }
        let itemsize = writer.dtype().itemsize() as u64;
        let nbytes = memory::nbytes(itemsize, writer.shape());
        Ok(Grown { nbytes, shape: Some(writer.shape().to_vec()) })
    }

    /// Rows after the last.
    fn rows(&self, writer: &mut NdWriter, input: &Input) -> Result<()> {
        let row = row_of(writer);
        let chunk = u64::from(writer.meta().chunkshape().first().copied().unwrap_or(1)).max(1);
        let budget = self.cx.memory() / 4;
        // Whole chunks, or what fits the memory of one.
        let rows = match budget / row.saturating_mul(chunk).max(1) {
            0 => (budget / row.max(1)).max(1),
            chunks => chunks * chunk,
        };
        let first = chunk - writer.shape().first().copied().unwrap_or(0) % chunk;
        let len = |rows: u64| memory::as_len(rows.saturating_mul(row));
        let (mut wanted, mut band) = (len(first.min(rows)), vec![]);
        input.source.in_c_order(&self.cx.read_options(), budget, &mut |mut bytes| {
            self.progress.add(bytes.len() as u64);
            while !bytes.is_empty() {
                let (now, later) = bytes.split_at((wanted - band.len()).min(bytes.len()));
                band.extend_from_slice(now);
                bytes = later;
                if band.len() == wanted {
                    self.cx.unfinished.hold(|| writer.append_bytes(0, &band))?;
                    band.clear();
                    wanted = len(rows);
                }
            }
            Ok::<(), Error>(())
        })?;
        if !band.is_empty() {
            self.cx.unfinished.hold(|| writer.append_bytes(0, &band))?;
        }
        Ok(())
    }

    /// A part at the end of another dimension.
    fn boxes(
        &self,
        writer: &mut NdWriter,
        input: &Input,
        layout: &Layout,
        axis: usize,
    ) -> Result<()> {
        let mut shape = writer.shape().to_vec();
        let start = shape[axis];
        shape[axis] = start.saturating_add(layout.shape[axis]);
        let mut items = BoxSource::File(input.source.in_file(layout, &self.cx.read_options())?);
        writer.resize(&shape)?;
        let itemsize = layout.dtype.itemsize() as u64;
        let mut part = vec![];
        for bounds in
            Boxes::new(&layout.shape, writer.meta().chunkshape(), itemsize, self.cx.memory() / 4)
        {
            part.resize(memory::as_len(count(&bounds) * itemsize), 0);
            items.fill(&bounds, &mut part)?;
            let selection = bounds.iter().enumerate().map(|(dim, range)| {
                let by = if dim == axis { start } else { 0 };
                Pick::from(range.start + by..range.end + by)
            });
            let selection: Vec<_> = selection.collect();
            self.cx.unfinished.hold(|| writer.write_bytes(selection, &part))?;
            self.progress.add(part.len() as u64);
        }
        Ok(())
    }
}

/// What the input adds to the array: its own shape, or the one that its bytes have in the other
/// dimensions.
pub(super) fn layout(input: &Input, dtype: &Dtype, shape: &[u64], axis: usize) -> Result<Layout> {
    let (dtype, mut shape) = (dtype.clone(), shape.to_vec());
    let Some(found) = input.source.layout()?.filter(|_| input.is_array) else {
        let others = shape.iter().enumerate().filter(|(dim, _)| *dim != axis).map(|(_, len)| len);
        let of = memory::nbytes(dtype.itemsize() as u64, others);
        input.check_multiple(of)?;
        shape[axis] = input.source.nbytes()?.checked_div(of).unwrap_or(0);
        return Ok(Layout::in_c_order(dtype, shape));
    };
    if found.dtype != dtype {
        let (found, expected) = (found.dtype.to_string(), dtype.to_string());
        return Err(Error::OtherType { file: input.name.clone(), found, expected });
    }
    let fits = found.shape.len() == shape.len()
        && found.shape.iter().zip(&shape).enumerate().all(|(dim, (a, b))| dim == axis || a == b);
    if !fits {
        return Err(Error::OtherShape {
            file: input.name.clone(),
            found: found.shape,
            array: shape,
            axis,
        });
    }
    Ok(found)
}

/// Bytes of the items at one position of the first dimension.
fn row_of(writer: &NdWriter) -> u64 {
    memory::nbytes(writer.dtype().itemsize() as u64, writer.shape().iter().skip(1))
}
