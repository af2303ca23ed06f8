//! The functions of C-Blosc's `libblosc.so.1`, each a call of the same name in
//! [`blosc_capi::blosc1`]: the list is the crate.
#![deny(unsafe_code)]
