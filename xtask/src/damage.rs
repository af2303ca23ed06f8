//! `cargo xtask damage`: damage by a bad disk is noticed, and the undamaged data come back.
//!
//! `--flips N` flips N bits in every class of bytes that checksums cover; `--sweep` cuts small
//! samples at every byte and zeroes their every page, and larger samples at `--bytes N` random
//! positions.

use core::time::Duration;

use blosc_trials::damage::{self, Settings};

use crate::{args::Args, failure::Result};

pub(crate) fn run(mut args: Args) -> Result<()> {
    let is_sweep = args.flag("--sweep");
    let nflips: Option<u64> = args.option("--flips")?;
    let mut settings = Settings {
        seed: args.option("--seed")?.unwrap_or(1),
        time: Duration::MAX,
        only: args.option("--only")?,
        cases: 0..nflips.unwrap_or(u64::MAX),
    };
    let say = &mut |line| println!("{line}");
    if is_sweep {
        settings.cases = 0..args.option("--bytes")?.unwrap_or(10_000);
        args.finish()?;
        return damage::sweep(&settings, 1, say).map(drop);
    }
    if nflips.is_some() {
        args.finish()?;
        return damage::flip_bits(&settings, say).map(drop);
    }
    settings.time = Duration::from_secs(args.option("--seconds")?.unwrap_or(60));
    if let Some(case) = args.option::<u64>("--case")? {
        settings.cases = case..case.saturating_add(1);
    }
    args.finish()?;
    damage::run(&settings, say).map(drop)
}
