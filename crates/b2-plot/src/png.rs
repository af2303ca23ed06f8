//! Pixels as a file: the chunks of PNG (third edition) for a picture with three bytes per pixel.

use miniz_oxide::deflate::compress_to_vec_zlib;

/// The effort of the compressor, 0..=10.
const LEVEL: u8 = 9;

/// A file of `width` columns of pixels: red, green and blue, row after row.
pub(crate) fn encode(width: usize, rgb: &[u8]) -> Vec<u8> {
    let row_nbytes = (3 * width).max(1);
    let side = |len: usize| u32::try_from(len).unwrap_or(u32::MAX).to_be_bytes();
    let mut header = [side(width), side(rgb.len() / row_nbytes)].concat();
    // Eight bits per sample, colours without alpha; then the only defined methods; not interlaced.
    header.extend([8, 2, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, *b"IHDR", &header);
    chunk(&mut file, *b"IDAT", &compress_to_vec_zlib(&filtered(row_nbytes, rgb), LEVEL));
    chunk(&mut file, *b"IEND", &[]);
    file
}

/// Rows as differences from the row above (filter 2): plots consist of rectangles.
fn filtered(row_nbytes: usize, rgb: &[u8]) -> Vec<u8> {
    const UP: u8 = 2;
    let none = vec![0; row_nbytes];
    let above = core::iter::once(none.as_slice()).chain(rgb.chunks(row_nbytes));
    let rows = rgb.chunks(row_nbytes).zip(above);
    rows.flat_map(|(row, above)| {
        let differences = row.iter().zip(above).map(|(byte, above)| byte.wrapping_sub(*above));
        core::iter::once(UP).chain(differences)
    })
    .collect()
}

/// Adds a chunk: its length, name and data, and the checksum of the last two.
fn chunk(file: &mut Vec<u8>, name: [u8; 4], data: &[u8]) {
    file.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_be_bytes());
    let start = file.len();
    file.extend(name);
    file.extend(data);
    let checksum = crc32(&file[start..]);
    file.extend(checksum.to_be_bytes());
}

/// The CRC-32 (IEEE 802.3), bit by bit: pictures are small, and tables of it are 16 KiB.
fn crc32(bytes: &[u8]) -> u32 {
    let next = |sum: u32, _| (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg());
    !bytes.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), next))
}
