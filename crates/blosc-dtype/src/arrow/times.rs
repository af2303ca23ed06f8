//! Conversion of NumPy's dates and times, which have any unit, to and from Arrow's few units.
#![cfg_attr(
    not(test),
    expect(clippy::arithmetic_side_effects, reason = "units of time in 128 bits")
)]

use super::arrow_schema::{DataType, TimeUnit};
use crate::{Dtype, Kind};

use crate::calendar::{day_of_month, month_of_day};

/// The conversion of a column's numbers to those of Arrow.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Times {
    /// The type of Arrow.
    pub data_type: DataType,
    /// The length of NumPy's unit in units of Arrow, or in months.
    scale: i128,
    is_months: bool,
}

/// NumPy's mark of a missing date.
pub const NAT: i64 = i64::MIN;

impl Times {
    /// `None` for a dtype other than dates and times, or a unit that Arrow cannot express.
    #[must_use]
    pub fn from_dtype(dtype: &Dtype) -> Option<Self> {
        let scalar = dtype.scalar()?;
        let unit = scalar.unit()?;
        let name = unit.trim_start_matches(|c: char| c.is_ascii_digit());
        let count = unit.get(..unit.len() - name.len()).unwrap_or_default();
        let count: i128 = if count.is_empty() { 1 } else { count.parse().ok()? };
        let is_date = match scalar.kind() {
            Kind::DateTime => true,
            Kind::TimeDelta => false,
            _ => return None,
        };
        let clock =
            |unit| if is_date { DataType::Timestamp(unit, None) } else { DataType::Duration(unit) };
        let (data_type, scale, is_months) = match name {
            "Y" if is_date => (DataType::Date32, 12, true),
            "M" if is_date => (DataType::Date32, 1, true),
            "W" if is_date => (DataType::Date32, 7, false),
            "D" if is_date => (DataType::Date32, 1, false),
            "W" => (clock(TimeUnit::Second), 7 * 86_400, false),
            "D" => (clock(TimeUnit::Second), 86_400, false),
            "h" => (clock(TimeUnit::Second), 3600, false),
            "m" => (clock(TimeUnit::Second), 60, false),
            "s" => (clock(TimeUnit::Second), 1, false),
            "ms" => (clock(TimeUnit::Millisecond), 1, false),
            "us" => (clock(TimeUnit::Microsecond), 1, false),
            "ns" => (clock(TimeUnit::Nanosecond), 1, false),
            _ => return None,
        };
        Some(Self { data_type, scale: scale * count, is_months })
    }

    /// Whether numbers stay the same.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        self.scale == 1 && !self.is_months
    }

    /// The number in Arrow; `None` if it does not fit.
    #[must_use]
    pub fn export(&self, value: i64) -> Option<i64> {
        let scaled = i128::from(value) * self.scale;
        i64::try_from(if self.is_months { day_of_month(scaled) } else { scaled }).ok()
    }

    /// The number in NumPy; `None` if it is not a whole one.
    #[must_use]
    pub fn import(&self, value: i64) -> Option<i64> {
        let value = if self.is_months { month_of_day(value.into())? } else { value.into() };
        let is_whole = value % self.scale == 0;
        i64::try_from(value / self.scale).ok().filter(|value| is_whole && *value != NAT)
    }
}

/// The text of the dtype whose numbers are the same as those of the Arrow type.
#[must_use]
pub fn dtype_text(data_type: &DataType) -> Option<&'static str> {
    Some(match data_type {
        DataType::Date32 => "<M8[D]",
        DataType::Date64 | DataType::Timestamp(TimeUnit::Millisecond, _) => "<M8[ms]",
        DataType::Timestamp(TimeUnit::Second, _) => "<M8[s]",
        DataType::Timestamp(TimeUnit::Microsecond, _) => "<M8[us]",
        DataType::Timestamp(TimeUnit::Nanosecond, _) => "<M8[ns]",
        DataType::Duration(TimeUnit::Second) => "<m8[s]",
        DataType::Duration(TimeUnit::Millisecond) => "<m8[ms]",
        DataType::Duration(TimeUnit::Microsecond) => "<m8[us]",
        DataType::Duration(TimeUnit::Nanosecond) => "<m8[ns]",
        _ => return None,
    })
}
