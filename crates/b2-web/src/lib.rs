//! Answers to a page in a web browser about files of the Blosc family.
//!
//! ```text
//!   page  --request, JSON-->  Engine  --> Done(JSON) | Bytes | Fetch(ranges) | Failed(JSON)
//!         <--answer---------           over blosc-data, b2-plot and blosc_io::steps
//! ```
//!
//! The engine never waits. It says which ranges of a file it lacks; the page fetches them, adds
//! them and sends the same request again. Work that takes long is a task: each request for its next
//! piece takes a bounded time and a bounded memory, so that the page can show progress and stop.
//!
//! [`Engine`] is the same natively and in a browser; `exports` are the functions of the module. It
//! prints nothing, opens nothing, and has no state but that of the one engine of the module.
//!
//! ```
//! use b2_web::{Answer, Engine};
//!
//! let frame = b2_web_example();
//! let mut engine = Engine::default();
//! let mut ask = |request: &str| loop {
//!     match engine.call(request.as_bytes()) {
//!         Answer::Fetch(_) => engine.add(0, "", 0, &frame, frame.len() as u64).unwrap(),
//!         Answer::Done(json) => return json,
//!         other => panic!("{other:?}"),
//!     }
//! };
//! assert_eq!(ask(r#"{"call": "file", "name": "a.npy"}"#)["session"], 0);
//! assert_eq!(ask(r#"{"call": "open", "session": 0}"#)["shape"], serde_json::json!([3]));
//! # fn b2_web_example() -> Vec<u8> {
//! #     let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
//! #     let text = "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }";
//! #     file.extend(format!("{text:<117}\n").bytes());
//! #     file.extend([1, 2, 3]);
//! #     file
//! # }
//! ```
//!
//! # Limits
//!
//! Answers with cells have at most [`MAX_CELLS`] of them, and a task holds [`PIECE_NBYTES`] of data
//! at a time, but at least a row or a chunk.

#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod about;
mod cells;
mod chunks;
mod engine;
#[cfg(target_family = "wasm")]
#[allow(unsafe_code, reason = "a name that is exported is one for the linker")]
mod exports;
mod fault;
mod request;
mod session;
mod task;

pub use cells::MAX_CELLS;
pub use engine::{Answer, Engine};
pub use task::PIECE_NBYTES;
