//! Exact texts of whole multiples of a power of ten: no float is printed.

/// Longest tick label; longer ones are written relative to a nearby number.
const MAX_TICK_LEN: usize = 10;

/// Texts of ascending `digits`, in units of `10^exponent`. They are short and distinct: if they
/// would be long, the first shows a number near all of them, and each shows its distance from that
/// number.
pub(super) fn told_apart(digits: &[i128], exponent: i32, is_plain: bool) -> Vec<String> {
    let all = |text: fn(i128, i32) -> String| -> Vec<String> {
        digits.iter().map(|it| text(*it, exponent)).collect()
    };
    let longest = |texts: &[String]| texts.iter().map(String::len).max().unwrap_or(0);
    let (places, powers) = (all(plain), all(scientific));
    let texts = match is_plain || longest(&places) <= longest(&powers) {
        true => places,
        false => powers,
    };
    let (Some(first), Some(last)) = (digits.first(), digits.last()) else { return texts };
    let nearest = if *first > 0 { *first } else { *last };
    // Numbers on both sides of zero have few digits.
    if longest(&texts) <= MAX_TICK_LEN || *first <= 0 && *last >= 0 {
        return texts;
    }
    // Finds the digits that all of them share.
    let mut unit = 1_i128;
    while unit <= last - first {
        unit *= 10;
    }
    let base = nearest / unit * unit;
    let name = short(base, exponent);
    let text = |n: usize, digits: i128| {
        let sign = if digits > base { "+" } else { "" };
        match digits == base {
            true => name.clone(),
            // The first tick shows the nearby number, and its own distance from it.
            false if n == 0 => format!("{name}{sign}{}", short(digits - base, exponent)),
            false => format!("{sign}{}", short(digits - base, exponent)),
        }
    };
    digits.iter().enumerate().map(|(n, digits)| text(n, *digits)).collect()
}

/// The shorter of two texts.
pub(super) fn shortest(a: &str, b: &str) -> String {
    if a.len() <= b.len() { a.to_owned() } else { b.to_owned() }
}

/// A number without zeros at its end.
fn short(digits: i128, exponent: i32) -> String {
    let (mut digits, mut exponent) = (digits, exponent);
    while digits != 0 && digits % 10 == 0 {
        (digits, exponent) = (digits / 10, exponent + 1);
    }
    shortest(&plain(digits, exponent), &scientific(digits, exponent))
}

/// `0.0012`, with as many decimals as the unit has.
fn plain(digits: i128, exponent: i32) -> String {
    let places = exponent.unsigned_abs() as usize;
    if exponent >= 0 {
        let zeros = if digits == 0 { 0 } else { places };
        return format!("{digits}{}", "0".repeat(zeros));
    }
    let sign = if digits < 0 { "-" } else { "" };
    let all = format!("{:0>width$}", digits.unsigned_abs(), width = places + 1);
    let (whole, rest) = all.split_at(all.len() - places);
    format!("{sign}{whole}.{rest}")
}

/// `1.2e-3`, without zeros at the end.
fn scientific(digits: i128, exponent: i32) -> String {
    if digits == 0 {
        return "0".to_owned();
    }
    let sign = if digits < 0 { "-" } else { "" };
    let all = digits.unsigned_abs().to_string();
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "39 digits")]
    let power = exponent + all.len() as i32 - 1;
    let (first, rest) = all.split_at(1);
    match rest.trim_end_matches('0') {
        "" => format!("{sign}{first}e{power}"),
        rest => format!("{sign}{first}.{rest}e{power}"),
    }
}
