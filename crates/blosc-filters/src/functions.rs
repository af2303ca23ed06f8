//! Further filters as functions.

pub use crate::bytedelta::{bytedelta_decode, bytedelta_decode_legacy, bytedelta_encode};
pub use crate::delta::{delta_decode, delta_encode};
pub use crate::int_trunc::int_trunc;
pub use crate::ndcell::{ndcell_decode, ndcell_encode};
pub use crate::ndmean::{ndmean_decode, ndmean_encode};
pub use crate::trunc_prec::trunc_prec;
