//! The functions of the module: numbers go over the border, and two buffers for the rest.
//!
//! JavaScript takes room for input ([`b2_input`]), writes a request there, calls [`b2_call`], and
//! reads the output. The module imports nothing.

use std::cell::RefCell;

use crate::{Answer, Engine};

#[derive(Default)]
struct State {
    engine: Engine,
    input: Vec<u8>,
    output: Vec<u8>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Done: the output is a document of JSON.
const DONE: u32 = 0;
/// The output is a list of parts of files to fetch.
const FETCH: u32 = 1;
/// The output is the document of an error.
const FAILED: u32 = 2;
/// Done: the output is the bytes that the page wants.
const BYTES: u32 = 3;

/// Nothing calls back, so that the state is never borrowed twice.
fn with_state<T>(work: impl FnOnce(&mut State) -> T, without: T) -> T {
    STATE.with(|state| match state.try_borrow_mut() {
        Ok(mut state) => work(&mut state),
        Err(_) => without,
    })
}

/// Room for `len` bytes of input.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn b2_input(len: usize) -> *mut u8 {
    with_state(
        |state| {
            state.input.clear();
            state.input.resize(len, 0);
            state.input.as_mut_ptr()
        },
        core::ptr::null_mut(),
    )
}

/// Where the output is.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn b2_output() -> *const u8 {
    with_state(|state| state.output.as_ptr(), core::ptr::null())
}

/// Bytes of the output.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn b2_output_len() -> usize {
    with_state(|state| state.output.len(), 0)
}

/// Answers the request that is the input.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn b2_call() -> u32 {
    with_state(
        |state| {
            let request = core::mem::take(&mut state.input);
            let (code, output) = match state.engine.call(&request) {
                Answer::Done(value) => (DONE, value.to_string().into_bytes()),
                Answer::Fetch(value) => (FETCH, value.to_string().into_bytes()),
                Answer::Failed(value) => (FAILED, value.to_string().into_bytes()),
                Answer::Bytes(bytes) => (BYTES, bytes),
            };
            state.output = output;
            code
        },
        FAILED,
    )
}

/// Adds bytes of a file: the input is its path, of `path_len` bytes, and then the bytes from
/// position `at` on, of `len`. Positions are whole numbers up to 2^53.
#[unsafe(no_mangle)]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole numbers of JavaScript, which saturate"
)]
pub(crate) extern "C" fn b2_add(session: usize, path_len: usize, at: f64, len: f64) -> u32 {
    with_state(
        |state| {
            let input = core::mem::take(&mut state.input);
            let (path, bytes) = input.split_at(path_len.min(input.len()));
            let path = String::from_utf8_lossy(path);
            match state.engine.add(session, &path, at as u64, bytes, len as u64) {
                Ok(()) => DONE,
                Err(document) => {
                    state.output = document.to_string().into_bytes();
                    FAILED
                }
            }
        },
        FAILED,
    )
}
