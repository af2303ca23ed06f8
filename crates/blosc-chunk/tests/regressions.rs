//! What went wrong once, each with its smallest input.

use blosc_chunk::decompress;

/// C-Blosc2 3.3.5 marks empty data, compressed with a dictionary, as memcpyed and as a chunk of zeros.
#[test]
fn empty_chunk_with_two_kinds_is_empty() {
    let mut chunk = [0; 32];
    chunk[..4].copy_from_slice(&[5, 1, 7, 16]);
    (chunk[8], chunk[12], chunk[31]) = (1, 32, 0x10);
    assert_eq!(decompress(&chunk), Ok(vec![]));
}
