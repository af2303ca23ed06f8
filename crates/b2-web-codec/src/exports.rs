//! The functions of the module: numbers go over the border, and two buffers for the rest.
//!
//! JavaScript takes room for a chunk ([`b2_input`]), writes it there, calls [`b2_decode`], and
//! reads the output. The module imports nothing.

use std::cell::RefCell;

use crate::Codec;

#[derive(Default)]
struct State {
    codec: Codec,
    input: Vec<u8>,
    output: (usize, usize),
    message: String,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Nothing calls back, so that the state is never borrowed twice.
fn with_state<T>(work: impl FnOnce(&mut State) -> T, without: T) -> T {
    STATE.with(|state| match state.try_borrow_mut() {
        Ok(mut state) => work(&mut state),
        Err(_) => without,
    })
}

/// Room for a chunk of `len` bytes.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn b2_input(len: usize) -> *mut u8 {
    with_state(
        |state| {
            state.input.resize(len, 0);
            state.input.as_mut_ptr()
        },
        core::ptr::null_mut(),
    )
}

/// Decodes the chunk: 0, and the output is its data; 1, and the output says what is wrong.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn b2_decode() -> u32 {
    with_state(
        |state| {
            let place = |bytes: &[u8]| (bytes.as_ptr().addr(), bytes.len());
            match state.codec.decode(&state.input) {
                Ok(data) => {
                    state.output = place(data);
                    0
                }
                Err(message) => {
                    state.message = message;
                    state.output = place(state.message.as_bytes());
                    1
                }
            }
        },
        1,
    )
}

/// Where the output is.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn b2_output() -> usize {
    with_state(|state| state.output.0, 0)
}

/// Bytes of the output.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn b2_output_len() -> usize {
    with_state(|state| state.output.1, 0)
}
