//! The hints of errors that come from the library.

use blosc_data::error::{BcolzLack, Refusal};

use super::message::OTHER_TYPES;

/// Advice for data that the library refuses to convert.
pub(super) const fn of_refusal(refusal: &Refusal) -> Option<&'static str> {
    Some(match refusal {
        Refusal::ObjectsStayWhole(_) => "--columns leaves columns out",
        Refusal::PythonObjects => "`b2 show` shows what is plain data",
        Refusal::UnknownItems => "use --dtype, and --shape for more than one dimension",
        Refusal::IsForArrays(_) => "use --dtype and --shape",
        Refusal::FormatWithoutShape(_) => "use --format b2nd",
        Refusal::IsForTwoDimensions(_) => "use --shape, or another codec",
        Refusal::NoNpyType(_) => "use --format raw",
        Refusal::RowsOfTable => "use --chunks N and --blocks N",
        Refusal::ExtraColumn(_) => {
            "`b2 table add` makes one, `b2 convert --columns NAME,NAME` leaves some out"
        }
        Refusal::TextTooLong(_) => OTHER_TYPES,
        Refusal::NotInBcolz(lack) => match lack {
            BcolzLack::Deletion => {
                "`b2 convert --where 'not (CONDITION)' TABLE NEW.bcolz` makes one without some"
            }
            BcolzLack::DeletedRows => "`b2 recompress` writes it anew",
            BcolzLack::NullColumn => "give the new column a value: COLUMN:TYPE=VALUE",
            BcolzLack::NullCell => {
                "`b2 table set TABLE COLUMN=VALUE --where 'COLUMN != COLUMN'` sets what is NaN"
            }
            _ => return None,
        },
        _ => return None,
    })
}
