//! Reading: which inputs there are, what each holds, and its bytes.

pub(crate) mod before_damage;
pub(crate) mod decoded;
pub(crate) mod object;
pub(crate) mod object_reader;
pub(crate) mod origin;
pub(crate) mod piped;
pub(crate) mod raw_data;
pub(crate) mod remote;
pub(crate) mod typesize;
