//! `cargo xtask crash`: an interrupted change leaves the old state or the new one.
//!
//! With `--originals N`, the format's original program also reads the states after kills, and N
//! drawn states of each operation, if the format allows it.

mod originals;

use core::time::Duration;

use blosc_trials::crash::{self, Settings};

use crate::{args::Args, failure::Result};
use originals::Originals;

pub(crate) fn run(mut args: Args) -> Result<()> {
    let seconds: u64 = args.option("--seconds")?.unwrap_or(60);
    let round: Option<u64> = args.option("--round")?;
    let settings = Settings {
        seed: args.option("--seed")?.unwrap_or(1),
        time: Duration::from_secs(seconds),
        only: args.option("--only")?,
        rounds: round.map_or(0..u64::MAX, |round| round..round.saturating_add(1)),
    };
    let originals: Option<u64> = args.option("--originals")?;
    let python = args.option("--python")?;
    args.finish()?;
    let say = &mut |line| println!("{line}");
    let Some(ndraws) = originals else { return crash::run(&settings, say).map(drop) };
    crash::read_by(&mut Originals::start(python)?, &settings, ndraws, say).map(drop)
}
