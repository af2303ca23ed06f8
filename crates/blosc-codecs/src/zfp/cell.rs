//! One cell of `4^d` values: from values to coefficients and back.
//!
//! Forward: the values become integers of a common exponent, a transform along each dimension
//! decorrelates them, and negabinary makes the sign part of the magnitude. Coefficients are in the
//! order of total sequency, in which later ones tend to be smaller.

use super::real::{Lane, Real};

/// Most values in a cell.
pub(super) const MAX_CELL: usize = 256;

/// Quantizes and transforms `values` (`4^ndim` of them) to coefficients, in the order of total
/// sequency.
pub(super) fn forward<R: Real>(ndim: usize, values: &[R], emax: i32, coefficients: &mut [u64]) {
    let mut lanes = [R::Lane::default(); MAX_CELL];
    let lanes = &mut lanes[..values.len()];
    for (lane, value) in lanes.iter_mut().zip(values) {
        *lane = value.quantize(emax);
    }
    (0..ndim).for_each(|axis| transform(axis, lanes, forward_lift));
    for (to, at) in coefficients.iter_mut().zip(order(ndim)) {
        *to = lanes[usize::from(*at)].to_negabinary();
    }
}

/// The inverse of [`forward`], except for planes that were not coded.
pub(super) fn backward<R: Real>(ndim: usize, coefficients: &[u64], emax: i32, values: &mut [R]) {
    let mut lanes = [R::Lane::default(); MAX_CELL];
    let lanes = &mut lanes[..values.len()];
    for (from, at) in coefficients.iter().zip(order(ndim)) {
        lanes[usize::from(*at)] = R::Lane::from_negabinary(*from);
    }
    (0..ndim).rev().for_each(|axis| transform(axis, lanes, backward_lift));
    let scale = R::dequantizer(emax);
    for (value, lane) in values.iter_mut().zip(lanes) {
        *value = R::dequantize(*lane, scale);
    }
}

/// Applies `lift` to every line of four along an axis.
fn transform<L: Lane>(axis: usize, lanes: &mut [L], lift: fn([L; 4]) -> [L; 4]) {
    let step = 1 << (2 * axis);
    for group in lanes.chunks_exact_mut(4 * step) {
        for i in 0..step {
            let [a, b, c, d] =
                lift([group[i], group[i + step], group[i + 2 * step], group[i + 3 * step]]);
            (group[i], group[i + step], group[i + 2 * step], group[i + 3 * step]) = (a, b, c, d);
        }
    }
}

/// The transform of four values; each step is invertible up to the last bit.
fn forward_lift<L: Lane>([mut a, mut b, mut c, mut e]: [L; 4]) -> [L; 4] {
    (a, e) = lift_half(a, e);
    (c, b) = lift_half(c, b);
    (a, c) = lift_half(a, c);
    (e, b) = lift_half(e, b);
    e = e.add(b.half());
    b = b.sub(e.half());
    [a, b, c, e]
}

/// `p` becomes the mean of both, `q` half of their difference.
fn lift_half<L: Lane>(p: L, q: L) -> (L, L) {
    let p = p.add(q).half();
    (p, q.sub(p))
}

fn backward_lift<L: Lane>([mut a, mut b, mut c, mut e]: [L; 4]) -> [L; 4] {
    b = b.add(e.half());
    e = e.sub(b.half());
    (e, b) = unlift_half(e, b);
    (a, c) = unlift_half(a, c);
    (c, b) = unlift_half(c, b);
    (a, e) = unlift_half(a, e);
    [a, b, c, e]
}

fn unlift_half<L: Lane>(p: L, q: L) -> (L, L) {
    let q = q.add(p);
    (p.double().sub(q), q)
}

/// Position in the cell (`x + 4y + 16z + 64w`) of each coefficient.
fn order(ndim: usize) -> &'static [u8] {
    match ndim {
        1 => &ORDER_1,
        2 => &ORDER_2,
        3 => &ORDER_3,
        _ => &ORDER_4,
    }
}

const ORDER_1: [u8; 4] = [0, 1, 2, 3];

const ORDER_2: [u8; 16] = [0, 1, 4, 5, 2, 8, 6, 9, 3, 12, 10, 7, 13, 11, 14, 15];

const ORDER_3: [u8; 64] = [
    0, 1, 4, 16, 20, 17, 5, 2, 8, 32, 21, 6, 18, 24, 9, 33, 36, 3, 12, 48, 22, 25, 37, 40, 34, 10,
    7, 19, 28, 13, 49, 52, 41, 38, 26, 23, 29, 53, 11, 35, 44, 14, 50, 56, 42, 27, 39, 45, 30, 54,
    57, 60, 51, 15, 43, 46, 58, 61, 55, 31, 62, 59, 47, 63,
];

const ORDER_4: [u8; 256] = [
    0, 1, 4, 16, 64, 5, 80, 17, 68, 65, 20, 2, 8, 32, 128, 84, 81, 69, 21, 6, 18, 66, 24, 72, 9,
    96, 33, 36, 129, 132, 144, 3, 12, 48, 192, 85, 82, 70, 22, 73, 25, 88, 37, 100, 97, 148, 145,
    133, 10, 160, 34, 136, 130, 40, 7, 19, 67, 28, 76, 13, 112, 49, 52, 193, 196, 208, 86, 89, 101,
    149, 161, 137, 41, 134, 38, 164, 26, 152, 146, 104, 98, 74, 83, 71, 23, 77, 29, 92, 53, 116,
    113, 212, 209, 197, 11, 35, 131, 44, 140, 14, 176, 50, 56, 194, 200, 224, 90, 165, 102, 153,
    150, 105, 168, 162, 138, 42, 87, 93, 117, 213, 27, 75, 99, 39, 135, 147, 108, 45, 141, 156, 30,
    78, 177, 180, 54, 114, 120, 57, 198, 210, 216, 201, 225, 228, 15, 240, 51, 204, 195, 60, 169,
    166, 154, 106, 91, 103, 151, 109, 157, 94, 181, 118, 121, 214, 217, 229, 163, 139, 43, 142, 46,
    172, 58, 184, 178, 232, 226, 202, 241, 205, 61, 199, 55, 244, 31, 220, 211, 124, 115, 79, 170,
    167, 155, 107, 158, 110, 173, 122, 185, 182, 233, 230, 218, 95, 245, 119, 221, 215, 125, 242,
    206, 62, 203, 59, 248, 47, 236, 227, 188, 179, 143, 171, 174, 186, 234, 246, 222, 126, 219,
    123, 249, 111, 237, 231, 189, 183, 159, 252, 243, 207, 63, 175, 250, 187, 238, 235, 190, 253,
    247, 223, 127, 254, 251, 239, 191, 255,
];

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    #[test]
    fn orders_are_permutations() {
        for ndim in 1..=4 {
            let mut seen = vec![false; 1 << (2 * ndim)];
            order(ndim).iter().for_each(|at| seen[usize::from(*at)] = true);
            assert!(seen.iter().all(|seen| *seen), "{ndim}");
        }
    }

    #[test]
    fn backward_is_the_inverse_up_to_the_last_bits() {
        for ndim in 1..=4 {
            let size = 1_u16 << (2 * ndim);
            let values: Vec<f64> = (0..size).map(|n| f64::from(n * n % 97) - 40.0).collect();
            let (mut coefficients, mut back) = (vec![0; values.len()], vec![0.0; values.len()]);
            forward(ndim, &values, 6, &mut coefficients);
            backward(ndim, &coefficients, 6, &mut back);
            for (value, back) in values.iter().zip(&back) {
                assert!((value - back).abs() < 1e-12, "{ndim}: {value} {back}");
            }
        }
    }

    #[test]
    fn a_constant_cell_has_one_coefficient() {
        let mut coefficients = [1; 16];
        forward(2, &[1.5_f64; 16], 1, &mut coefficients);
        assert!(coefficients[0] != 0);
        assert_eq!(coefficients[1..], [0; 15]);
    }
}
