//! `b2 convert`: from any format that is read to any that is written. `append --create` converts as
//! well, so the work is in [`conversion`](crate::conversion).

pub(crate) use crate::conversion::run;
