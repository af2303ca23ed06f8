//! Cases drawn from a seed, their panics, and the memory that they need.

use core::panic::AssertUnwindSafe;
use std::{
    panic::catch_unwind,
    sync::{Arc, Mutex},
};

use blosc_testdata::data::XorShift32;
use peak_alloc::PeakAlloc;

use crate::failure::{Result, fail};

/// Counts the allocations in all programs with this crate; only [`memory_for`] reads the count.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Equal arguments give equal numbers.
pub fn draw(seed: u64, number: u64) -> XorShift32 {
    let mixed =
        (seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let [.., a, b, c, d] = (mixed ^ (mixed >> 29)).to_le_bytes();
    let mut draw = XorShift32::new(u32::from_le_bytes([a, b, c, d]));
    draw.next_u32();
    draw
}

/// A number below `bound`, which must not be 0.
pub fn below(draw: &mut XorShift32, bound: usize) -> usize {
    usize::try_from(draw.below(bound as u64)).unwrap_or(0)
}

/// The result of `read`, and the most bytes that it had allocated at a time.
pub fn memory_for<T>(read: impl FnOnce() -> T) -> (T, usize) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let result = read();
    (result, MEMORY.peak_usage().saturating_sub(before))
}

/// The messages of panics, kept from the terminal.
pub struct Panics(Arc<Mutex<String>>);

impl Panics {
    /// Starts to collect messages.
    #[must_use]
    pub fn watch() -> Self {
        let last = Arc::new(Mutex::new(String::new()));
        let said = Arc::clone(&last);
        std::panic::set_hook(Box::new(move |info| {
            if let Ok(mut said) = said.lock() {
                *said = info.to_string();
            }
        }));
        Self(last)
    }

    /// The result of `run`; a panic is a failure.
    ///
    /// # Errors
    ///
    /// The error of `run`, or the message of the panic.
    pub fn catch<T>(&self, run: impl FnOnce() -> Result<T>) -> Result<T> {
        let result = catch_unwind(AssertUnwindSafe(run));
        result.unwrap_or_else(|_| {
            let said = self.0.lock().map(|said| said.clone()).unwrap_or_default();
            fail(format!("panicked: {said}"))
        })
    }

    /// The message of the last panic in any thread since the last call.
    #[must_use]
    pub fn take(&self) -> Option<String> {
        let said = self.0.lock().map(|mut said| core::mem::take(&mut *said)).unwrap_or_default();
        (!said.is_empty()).then_some(said)
    }
}

impl Drop for Panics {
    fn drop(&mut self) {
        // Restores the earlier hook. A thread must not take the hook while it panics.
        if !std::thread::panicking() {
            drop(std::panic::take_hook());
        }
    }
}
