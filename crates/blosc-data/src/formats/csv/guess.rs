//! Guesses the type of a column from its values.

use blosc_dtype::{
    Dtype, Error,
    date::{Moment, Precision},
};

/// The form of missing values in columns whose type cannot express them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing<'a> {
    /// Truth values are text, since NumPy items cannot be missing.
    Text,
    /// Truth values stay, and missing ones are the byte
    /// [`NULL_TRUTH`](crate::content::NULL_TRUTH).
    Truths,
    /// Nulls of these columns, which a byte after the item
    /// [marks](crate::content::Items::is_marked).
    Nulls(&'a [String]),
}

/// The truth value with this name in Python, other languages, or spreadsheets.
pub(super) fn truth(text: &str) -> Option<bool> {
    match text {
        "True" | "true" | "TRUE" => Some(true),
        "False" | "false" | "FALSE" => Some(false),
        _ => None,
    }
}

/// The properties of the values of a column.
#[derive(Clone, Debug)]
pub(super) struct Guess {
    /// Whether all values fit each type.
    int: bool,
    uint: bool,
    float: bool,
    truth: bool,
    dates: Dates,
    /// Whether some value is empty, and whether some is not.
    empty: bool,
    filled: bool,
    /// Whether a float would round some integer.
    large: bool,
    /// Letters of the longest value.
    letters: usize,
    /// The line and the text that made the column text, and the kind of the values before.
    broken: Option<(u64, String, &'static str)>,
}

impl Default for Guess {
    fn default() -> Self {
        let (int, uint, float, truth) = (true, true, true, true);
        let (dates, empty, filled, large, letters) = (Dates::default(), false, false, false, 0);
        let broken = None;
        Self { int, uint, float, truth, dates, empty, filled, large, letters, broken }
    }
}

impl Guess {
    /// Takes one more value into account; `line` is its line.
    pub(super) fn look_at(&mut self, value: &[u8], line: u64) {
        let text = String::from_utf8_lossy(value);
        self.letters = self.letters.max(text.chars().count());
        if is_missing(&text) {
            self.empty = true;
            return;
        }
        let before = self.kind();
        self.take(&text);
        if let (Some(kind), None) = (before, self.kind())
            && !text.bytes().all(|byte| byte.is_ascii_digit())
        {
            self.broken = Some((line, text.chars().take(MAX_LETTERS).collect(), kind));
        }
    }

    /// The kind of the values so far; `None` for text.
    fn kind(&self) -> Option<&'static str> {
        match self {
            Self { filled: false, .. } => None,
            Self { truth: true, .. } => Some("truth values"),
            Self { int: true, .. } | Self { uint: true, .. } | Self { float: true, .. } => {
                Some("numbers")
            }
            Self { dates: Dates::All { .. }, .. } => Some("times"),
            _ => None,
        }
    }

    /// Whether the values are truth values with missing ones.
    pub(super) fn lacks_truth(&self) -> bool {
        self.filled && self.empty && self.truth
    }

    /// The reason why the column is text although most values are not, for people.
    pub(super) fn broken(&self, missing: Missing<'_>) -> Option<String> {
        // Truth values cannot be missing, as floats and times can (NaN, NaT).
        if self.lacks_truth() && missing == Missing::Text {
            return Some(
                "some lines have no value for it, and truth values cannot be missing".into(),
            );
        }
        if self.filled && self.empty && self.large && (self.int || self.uint) {
            let why = "its integers are too large for numbers that can be missing";
            return Some(format!("some lines have no value for it, and {why}"));
        }
        let (line, text, kind) = self.broken.as_ref()?;
        Some(format!("line {line} has {text:?}, and the values before it are {kind}"))
    }

    fn take(&mut self, text: &str) {
        self.filled = true;
        let int = text.parse::<i64>().ok().filter(|n| n.to_string() == text);
        let uint = text.parse::<u64>().ok().filter(|n| n.to_string() == text);
        self.int &= int.is_some();
        self.uint &= uint.is_some();
        self.truth &= truth(text).is_some();
        self.dates.look_at(text);
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        // Numbers with a leading zero are codes, not quantities.
        let is_code = digits.len() > 1
            && digits.starts_with('0')
            && digits.bytes().all(|c| c.is_ascii_digit());
        // A number too large for a float must not become infinite.
        let is_float = |text: &str| {
            let is_named = !text.bytes().any(|byte| byte.is_ascii_digit());
            text.parse::<f64>().is_ok_and(|number| number.is_finite() || is_named)
        };
        self.float &= !is_code && is_float(text);
        self.large |= digits.bytes().all(|c| c.is_ascii_digit())
            && digits.parse::<u64>().map_or(true, |n| n > 1 << f64::MANTISSA_DIGITS);
    }

    /// The type that holds all values.
    pub(super) fn dtype(&self, missing: Missing<'_>) -> Result<Dtype, Error> {
        let whole = self.filled && !self.empty;
        let name = match self {
            Self { truth: true, filled: true, .. } if missing == Missing::Truths => {
                "|b1".to_owned()
            }
            Self { truth: true, .. } if whole => "|b1".to_owned(),
            Self { int: true, .. } if whole => "<i8".to_owned(),
            Self { uint: true, .. } if whole => "<u8".to_owned(),
            Self { float: true, large: false, filled: true, .. } => "<f8".to_owned(),
            Self { dates: Dates::All { first, last, precision, .. }, .. } => {
                // All times in between fit this unit as well.
                let unit = precision.unit();
                match (first.count(unit), last.count(unit)) {
                    (Some(_), Some(_)) => format!("<M8[{unit}]"),
                    _ => self.letters_dtype(),
                }
            }
            _ => self.letters_dtype(),
        };
        Dtype::parse(&name)
    }

    fn letters_dtype(&self) -> String {
        format!("<U{}", self.letters.max(1))
    }
}

/// Whether all values are dates, or all are times.
#[derive(Clone, Debug, Default)]
enum Dates {
    /// No value so far.
    #[default]
    Unknown,
    All {
        first: Moment,
        last: Moment,
        /// The highest precision among them.
        precision: Precision,
        /// Whether they have a time zone.
        is_zoned: bool,
    },
    No,
}

impl Dates {
    fn look_at(&mut self, text: &str) {
        if text == "NaT" {
            return;
        }
        let moment = match self {
            Self::No => None,
            // A year alone is a number, and a year with a month may be anything.
            _ => Moment::parse_zoned(text).filter(|it| it.0.precision >= Precision::Day),
        };
        *self = match (&self, moment) {
            (Self::Unknown, Some((moment, is_zoned))) => {
                let precision = moment.precision;
                Self::All { first: moment, last: moment, precision, is_zoned }
            }
            (Self::All { first, last, precision, is_zoned }, Some((moment, zoned)))
                if moment.is_like(*precision) && *is_zoned == zoned =>
            {
                let first = if moment.is_before(first) { moment } else { *first };
                let last = if last.is_before(&moment) { moment } else { *last };
                let precision = moment.precision.max(*precision);
                Self::All { first, last, precision, is_zoned: zoned }
            }
            _ => Self::No,
        };
    }
}

/// Letters of a value in a message.
const MAX_LETTERS: usize = 40;

/// Whether a value means missing: empty, or a spelling of R, pandas or databases.
pub(super) fn is_missing(text: &str) -> bool {
    matches!(text, "" | "NA" | "null" | "NULL")
}
