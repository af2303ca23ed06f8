//! Colours: those of lines, and a map from 0..=1 that colour-blind people can read.

/// Red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// The background of a picture.
pub const WHITE: Rgb = Rgb(255, 255, 255);
/// The colour of texts.
pub const INK: Rgb = Rgb(40, 40, 40);
/// Lines around a picture.
pub const FRAME: Rgb = Rgb(110, 110, 110);
/// Lines across a picture, at its ticks.
pub const GRID: Rgb = Rgb(226, 226, 226);
/// NaN: unlike any colour of the map.
pub const NAN: Rgb = Rgb(214, 39, 160);

/// The colours of successive lines.
pub const LINES: [Rgb; 6] = [
    Rgb(31, 119, 180),
    Rgb(214, 97, 10),
    Rgb(44, 140, 44),
    Rgb(148, 103, 189),
    Rgb(140, 86, 75),
    Rgb(23, 150, 170),
];

/// The colour map viridis of matplotlib, at equal steps.
const VIRIDIS: [Rgb; 11] = [
    Rgb(68, 1, 84),
    Rgb(72, 36, 117),
    Rgb(65, 68, 135),
    Rgb(53, 95, 141),
    Rgb(42, 120, 142),
    Rgb(33, 145, 140),
    Rgb(34, 168, 132),
    Rgb(68, 191, 112),
    Rgb(122, 209, 81),
    Rgb(189, 223, 38),
    Rgb(253, 231, 37),
];

/// The colour at a share of the range from the least to the largest value.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0..=10")]
#[must_use]
pub fn map(share: f64) -> Rgb {
    if share.is_nan() {
        return VIRIDIS[0];
    }
    let at = share.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f64;
    let low = (at as usize).min(VIRIDIS.len() - 2);
    let (a, b, way) = (VIRIDIS[low], VIRIDIS[low + 1], at - low as f64);
    let mix = |a: u8, b: u8| (f64::from(b) - f64::from(a)).mul_add(way, a.into()).round() as u8;
    Rgb(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn map_goes_from_dark_to_bright() {
        assert_eq!((map(0.0), map(1.0)), (VIRIDIS[0], VIRIDIS[10]));
        assert_eq!((map(-5.0), map(f64::INFINITY)), (VIRIDIS[0], VIRIDIS[10]));
        let light = |share| {
            let Rgb(r, g, b) = map(share);
            0.3 * f64::from(r) + 0.59 * f64::from(g) + 0.11 * f64::from(b)
        };
        assert!((0..100).all(|n| light(f64::from(n) / 100.0) <= light(f64::from(n + 1) / 100.0)));
        assert_eq!(map(f64::NAN), VIRIDIS[0]);
    }
}
