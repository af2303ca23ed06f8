//! Data at the end of a Bloscpack file; one of an array grows along its first dimension.

use blosc_chunk::{CParams, Target as Reader};
use blosc_data::{append, convert::pull};
use bloscpack::{
    AppendOptions, LockedFile, Mismatch,
    numpy::{ArrayInfo, Order},
};

use super::{Grown, Input, Work, first_axis};
use crate::{
    error::{Result, message},
    formats::Blp,
    inputs::Sink,
};

impl Work<'_> {
    pub(super) fn blp(&self, opened: Blp) -> Result<Grown> {
        let mut locked = LockedFile::open(self.path, &self.cx.lock_wait(self.args.lock))?;
        // Another program could change the file until the lock was taken.
        let blp = opened.reopen(self.path)?;
        drop(opened);
        let mut array = blp.file.array_info()?;
        first_axis(self.args.axis, array.as_ref().map_or(1, |info| info.shape().len().max(1)))?;
        for input in &self.inputs {
            check(input, &blp, array.as_ref())?;
        }
        let options = self.options(&blp)?;
        let mut nbytes = blp.nbytes();
        let metadata = blp.file.metadata().and_then(|metadata| metadata.json()).cloned();
        drop(blp);
        for input in &self.inputs {
            let len = input.source.nbytes()?;
            let mut options = options.clone();
            if let Some(old) = array.take() {
                let new = append::grown(&old, len)?;
                options = options.metadata(Some(append::described(metadata.as_ref(), &new)?));
                array = Some(new);
            }
            let (read, budget) = (self.cx.read_options(), self.cx.memory() / 4);
            let decode = |sink: Sink<'_>| input.source.in_c_order(&read, budget, sink);
            pull(decode, |reader| {
                locked.append(reader, len, &options)?;
                Ok(())
            })?;
            nbytes += len;
            self.progress.add(len);
        }
        Ok(Grown { nbytes, shape: array.map(|array| array.shape().to_vec()) })
    }

    /// The settings of the first chunk. The level stays the default: the format does not store it.
    fn options(&self, blp: &Blp) -> Result<AppendOptions> {
        // Filling up the last chunk gives it a new digest, which would hide damage.
        let read = blp.options(&self.cx.read_options())?.mismatch(Mismatch::Fail);
        let options = AppendOptions::default().read(read);
        if blp.file.nchunks()? == 0 {
            return Ok(options);
        }
        let first = blp.file.packed_chunk(0)?;
        let header = first.header();
        let cparams = CParams::default().target(Reader::Blosc1_14).codec(header.codec_id());
        let cparams = cparams.filters(header.pipeline()).typesize(header.typesize());
        Ok(options.cparams(Some(cparams.registries(self.cx.registries()))))
    }
}

/// Whole items; of an array whole rows, of its type.
fn check(input: &Input, blp: &Blp, array: Option<&ArrayInfo>) -> Result<()> {
    let Some(info) = array else { return input.check_items(blp.typesize()) };
    let shape = info.shape();
    if shape.is_empty() {
        return Err(message::NO_DIMENSION_GROWS.error());
    }
    if info.order() == Order::F && shape.len() > 1 {
        return Err(message::CANNOT_GROW_AT_END.error());
    }
    input.check_rows(info.dtype(), shape)
}
