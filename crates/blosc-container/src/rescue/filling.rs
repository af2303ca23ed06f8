//! The data in place of lost ones, piece by piece.

use std::io::{self, Write};

use blosc_chunk::{
    CParams, Encoder, Error,
    hooks::{BlockCx, Made},
};

/// Bytes made at once.
const PIECE_NBYTES: usize = 1 << 16;

/// An item repeated without end. Memory never holds all of it: a damaged file states the number of
/// lost bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filling {
    item: Vec<u8>,
}

impl Filling {
    /// A filling of this item; zeros if it is empty.
    #[must_use]
    pub fn new(item: Vec<u8>) -> Self {
        Self { item }
    }

    /// Writes the filling to `dest`, whose position in all data is `at`.
    pub fn fill(&self, at: u64, dest: &mut [u8]) {
        let Some(within) = at.checked_rem(self.item.len() as u64) else { return dest.fill(0) };
        let skipped = usize::try_from(within).unwrap_or(0);
        let items = self.item.iter().cycle().skip(skipped);
        dest.iter_mut().zip(items).for_each(|(dest, byte)| *dest = *byte);
    }

    /// Writes `nbytes` bytes from byte `start` of all data on to a stream.
    ///
    /// # Errors
    ///
    /// The error of the stream.
    pub fn write(&self, start: u64, nbytes: u64, to: &mut dyn Write) -> io::Result<()> {
        let (mut done, mut piece) = (0_u64, vec![0; PIECE_NBYTES]);
        while done < nbytes {
            let left = usize::try_from(nbytes.saturating_sub(done)).unwrap_or(usize::MAX);
            piece.truncate(left);
            self.fill(start.saturating_add(done), &mut piece);
            to.write_all(&piece)?;
            done = done.saturating_add(piece.len() as u64);
        }
        Ok(())
    }

    /// A chunk of `nbytes` bytes that begins with the whole items in `saved`; `start` is the
    /// position of its first byte in all data.
    ///
    /// # Errors
    ///
    /// As [`Encoder::encode_with`].
    pub fn chunk(
        &self,
        start: u64,
        nbytes: usize,
        saved: &[u8],
        cparams: CParams,
    ) -> Result<Vec<u8>, Error> {
        let made = |BlockCx { at, .. }: BlockCx<'_>, dest: &mut [u8]| {
            let here = saved.get(at..).unwrap_or_default();
            let (old, new) = dest.split_at_mut(here.len().min(dest.len()));
            old.copy_from_slice(here.split_at(old.len()).0);
            self.fill(start.saturating_add(at.saturating_add(old.len()) as u64), new);
            Ok(Made::Data)
        };
        Encoder::new(cparams)?.encode_with(nbytes, &made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_chunk::decompress;

    #[test]
    fn pieces_are_those_of_one_long_filling() {
        let filling = Filling::new(b"abc".to_vec());
        let all: Vec<u8> = b"abc".iter().copied().cycle().skip(7).take(200_000).collect();
        let mut written = vec![];
        filling.write(7, 200_000, &mut written).unwrap();
        assert!(written == all);
        let cparams = CParams::default().typesize(1);
        let chunk = filling.chunk(7, 200_000, b"", cparams.clone()).unwrap();
        assert!(decompress(&chunk).unwrap() == all);
        let chunk = filling.chunk(0, 12, b"xyzxyz", cparams.clone()).unwrap();
        assert_eq!(decompress(&chunk).unwrap(), b"xyzxyzabcabc");
        let chunk = Filling::new(vec![]).chunk(5, 70_000, b"", cparams).unwrap();
        assert_eq!(decompress(&chunk).unwrap(), vec![0; 70_000]);
    }
}
