//! Reverses integers that were stored little-endian by accident, so that the ordinary parsers read
//! them.

/// Positions and lengths of the integers in a header of 13 elements (bytes).
const IN_HEADER: [(usize, usize); 8] =
    [(0x0b, 4), (0x10, 8), (0x1e, 8), (0x27, 8), (0x30, 4), (0x35, 4), (0x3a, 2), (0x3d, 2)];

/// Reverses the integers of the fixed part of a header.
pub(super) fn header(bytes: &mut [u8]) {
    for (at, len) in IN_HEADER {
        turn(bytes, at, len);
    }
}

/// Reverses the integers of the section of metalayers that begins at `start`. Stops at the first
/// contradiction; the parser of the section then reports it.
pub(super) fn section(bytes: &mut [u8], start: usize) {
    let Some(mut at) = start.checked_add(1) else { return };
    turn(bytes, at.saturating_add(1), 2);
    let Some(count) = turn(bytes, at.saturating_add(4), 2) else { return };
    at = at.saturating_add(6);
    let mut turned = vec![];
    for _ in 0..count {
        let Some(marker) = bytes.get(at) else { return };
        at = at.saturating_add(usize::from(marker & 31)).saturating_add(2);
        let Some(position) = turn(bytes, at, 4) else { return };
        at = at.saturating_add(4);
        // Two names may share a value, whose length is reversed once.
        if !turned.contains(&position) {
            turn(bytes, position.saturating_add(1), 4);
            turned.push(position);
        }
    }
    turn(bytes, at.saturating_add(1), 2);
}

/// Reverses an integer of `len` bytes and returns its value, if the bytes reach that far.
pub(super) fn turn(bytes: &mut [u8], at: usize, len: usize) -> Option<usize> {
    let integer = bytes.get_mut(at..at.checked_add(len)?)?;
    integer.reverse();
    let value = integer.iter().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    usize::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_turned_as_a_whole() {
        // One metalayer "ab" with the content "x", at position 2 of a header.
        let section_be = [
            &[
                0xff, 0xff, 0x93, 0xcd, 0, 15, 0xde, 0, 1, 0xa2, b'a', b'b', 0xd2, 0, 0, 0, 20,
                0xdc, 0, 1,
            ][..],
            &[0xc6, 0, 0, 0, 1, b'x'],
        ]
        .concat();
        let mut turned = section_be.clone();
        for (at, len) in [(4, 2), (7, 2), (13, 4), (18, 2), (21, 4)] {
            turned[at..at + len].reverse();
        }
        section(&mut turned, 2);
        assert_eq!(turned, section_be);
    }

    #[test]
    fn a_section_that_ends_early_is_left() {
        for len in 0..30 {
            section(&mut vec![0xff; len], 3);
        }
    }
}
