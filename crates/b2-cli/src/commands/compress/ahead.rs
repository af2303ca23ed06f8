//! Files that are opened, and whose items are guessed, while those before them are compressed.

use std::{
    sync::mpsc::{Receiver, sync_channel},
    thread::{Builder, Scope},
};

use blosc_data::typesize::{self, Evidence, Guess};

use crate::{
    args::{CompressArgs, Typesize},
    error::Result,
    inputs::{Data, Origin, Part, origin::Found},
};

/// Files that are opened ahead at most.
const MAX_FILES: usize = 16;

/// The data of an input, and the size of its items as far as it was guessed.
pub(super) type Opened = (Result<Data>, Option<(u8, Evidence)>);

/// Data that a thread opens in the order of the inputs.
pub(super) struct Ahead(Option<Receiver<(Origin, Opened)>>);

impl Ahead {
    /// Starts with the first of several files.
    pub(super) fn start<'s>(
        scope: &'s Scope<'s, '_>,
        args: &'s CompressArgs,
        inputs: &[Found],
    ) -> Self {
        let files = inputs.iter().flatten().filter(|origin| is_file(origin));
        let files: Vec<Origin> = files.cloned().collect();
        if files.len() < 2 {
            return Self(None);
        }
        let (give, take) = sync_channel(MAX_FILES);
        let mut guess = Guess::default();
        let work = move || {
            for origin in files {
                let data = Data::open(&origin, &args.output);
                let is_guessed = args.tuning.typesize == Typesize::Auto;
                let found = data.as_ref().ok().filter(|_| is_guessed);
                let found = found.map(|data| guess.find(origin.path(), data.sample(), data.len()));
                // The receiver is gone where the run has ended.
                if give.send((origin, (data, found))).is_err() {
                    return;
                }
            }
        };
        Self(Builder::new().spawn_scoped(scope, work).ok().map(|_| take))
    }

    /// Opens an input, or takes it from the thread.
    pub(super) fn open(&self, origin: &Origin, args: &CompressArgs) -> Opened {
        let ready = self.0.as_ref().filter(|_| is_file(origin));
        // The run leaves out inputs of which the system does not tell what they are.
        let ready = ready.and_then(|ready| ready.iter().find(|(opened, _)| opened == origin));
        ready.map_or_else(|| (Data::open(origin, &args.output), None), |(_, opened)| opened)
    }
}

/// The size of the items of data, and where it comes from.
pub(super) fn item_size(
    found: Option<(u8, Evidence)>,
    origin: &Origin,
    data: &Data,
) -> (u8, Evidence) {
    let len = data.len().or(data.whole().map(|whole| whole.len() as u64));
    found.unwrap_or_else(|| typesize::find(origin.path(), data.sample(), len))
}

fn is_file(origin: &Origin) -> bool {
    matches!(origin, Origin::File { path, part: Part::Whole } if path.is_file())
}
