//! Buffers whose length depends on data or parameters. If there is no memory for one, that is an
//! error: a library must not end its program.

use zerocopy::FromZeros;

use crate::error::{Error, Result};

/// This number of zeros, from pages that the system has cleared.
pub(crate) fn zeros(len: usize) -> Result<Vec<u8>> {
    u8::new_vec_zeroed(len).map_err(|_| Error::Memory { nbytes: len })
}

/// Changes the length of a buffer; new items have their default value.
pub(crate) fn resize<T: Clone + Default>(buffer: &mut Vec<T>, len: usize) -> Result<()> {
    reserve(buffer, len.saturating_sub(buffer.len()))?;
    buffer.resize(len, T::default());
    Ok(())
}

/// Makes room for more items.
pub(crate) fn reserve<T>(buffer: &mut Vec<T>, more: usize) -> Result<()> {
    let nbytes = more.saturating_mul(size_of::<T>());
    buffer.try_reserve(more).map_err(|_| Error::Memory { nbytes })
}

/// A copy of bytes.
pub(crate) fn copy(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len()).map_err(|_| Error::Memory { nbytes: bytes.len() })?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process of 32 bits has this much memory.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn no_memory_is_an_error_and_leaves_the_buffer() {
        let nbytes = isize::MAX as usize;
        let mut buffer = vec![1_u8, 2];
        let none = Err(Error::Memory { nbytes });
        assert_eq!(zeros(nbytes).map(|_| ()), none);
        assert_eq!(reserve(&mut buffer, nbytes), none);
        assert_eq!(resize(&mut buffer, nbytes), Err(Error::Memory { nbytes: nbytes - 2 }));
        assert_eq!(buffer, [1, 2]);
        assert_eq!(resize(&mut buffer, 4), Ok(()));
        assert_eq!((buffer, zeros(2), copy(&[5])), (vec![1, 2, 0, 0], Ok(vec![0; 2]), Ok(vec![5])));
    }
}
