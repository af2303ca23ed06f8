//! A user-defined filter: Gray code, in which neighbouring numbers differ in one bit only.
//!
//! `cargo run -p blosc-filters --example custom_filter`

use std::sync::Arc;

use blosc_filters::{Error, Filter, FilterCx, FilterId, Pipeline, Registry};

struct GrayCode;

impl Filter for GrayCode {
    fn id(&self) -> FilterId {
        FilterId(200) // 160 to 255 are for users
    }

    fn name(&self) -> &'static str {
        "gray_code"
    }

    fn forward(
        &self,
        _: &FilterCx<'_>,
        _meta: u8,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<(), Error> {
        for (to, byte) in dest.iter_mut().zip(src) {
            *to = byte ^ (byte >> 1);
        }
        Ok(())
    }

    fn backward(
        &self,
        _: &FilterCx<'_>,
        _meta: u8,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<(), Error> {
        for (to, byte) in dest.iter_mut().zip(src) {
            *to = [1, 2, 4].iter().fold(*byte, |bits, shift| bits ^ (bits >> shift));
        }
        Ok(())
    }
}

fn main() -> Result<(), Error> {
    let mut registry = Registry::builtin();
    registry.register(Arc::new(GrayCode))?;

    let pipeline = Pipeline::parse("200, bitshuffle")?;
    let block: Vec<u8> = (0..=255).collect();
    let cx = FilterCx::new(1);

    let (mut filtered, mut scratch) = (vec![0; block.len()], vec![0; block.len()]);
    pipeline.forward(&registry, &cx, &block, &mut filtered, &mut scratch)?;
    println!("{pipeline}: the row of the lowest bit is {:02x?}...", &filtered[..8]);

    let mut restored = vec![0; block.len()];
    pipeline.backward(&registry, &cx, &mut filtered, &mut restored)?;
    println!("restored: {}", restored == block);
    Ok(())
}
