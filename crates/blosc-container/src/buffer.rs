//! Reusable buffers that only grow.

/// The first `len` bytes of a buffer that grows if it is shorter. Their content is unspecified: the
/// caller overwrites it.
pub fn resized(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    buffer.get_mut(..len).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_grows_and_never_shrinks() {
        let mut buffer = vec![1; 3];
        assert_eq!(resized(&mut buffer, 2), [1, 1]);
        assert_eq!(resized(&mut buffer, 5), [1, 1, 1, 0, 0]);
        resized(&mut buffer, 0);
        assert_eq!(buffer.len(), 5);
    }
}
