//! `b2 seal`: gives a frame its checksum, in place. Readers without support for seals ignore it.

use b2frame::{
    Checksums,
    report::VerifyOptions,
    seal::{SealState, seal},
};
use serde::Serialize;

use crate::{
    args::{SealArgs, SealKind},
    context::Context,
    error::{Error, Result, message},
    exit::Code,
    formats::store,
    inputs::{Guard, Object, ObjectReader, Origin, Part, origin, walk},
    render::harmless,
};

/// The result of one input.
#[derive(Serialize)]
#[serde(tag = "schema", rename = "b2.seal/1")]
struct SealReport<'a> {
    path: &'a str,
    checksum: SealKind,
}

/// Seals each input.
pub(crate) fn run(args: &SealArgs, cx: &Context) -> Code {
    let inputs = origin::find(&args.inputs, &walk::ours);
    cx.run_on_inputs(inputs, |origin| seal_input(args, cx, origin))
}

/// Seals one input. A damaged frame is refused, since the new sum would hide the damage.
fn seal_input(args: &SealArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let path = origin.to_change()?;
    if store::whole(origin).is_some() {
        return Err(message::SEALS_FRAMES.error());
    }
    let origin = &store::value_of(origin, cx.dparams())?;
    let mut objects = ObjectReader::open(origin, cx.dparams())?;
    let object = objects.next()?.ok_or(Error::NotBlosc { start: vec![] })?;
    let schunk = match object {
        Object::Frame(schunk) => schunk,
        Object::Bcolz(set) if args.checksum == SealKind::Body => {
            set.seal()?;
            return report(args, cx, origin);
        }
        _ => return Err(message::SEALS_FRAMES.error()),
    };
    let is_whole = matches!(origin, Origin::File { part: Part::Whole, .. });
    // Sealing overwrites bytes after the frame, as every change does.
    if !is_whole || objects.next()?.is_some() {
        return Err(message::SEALS_FRAMES.error());
    }
    objects.warn_of_trailing(&cx.console, &origin.name());
    Guard::new(args.limits).admit_to_verify(&schunk)?;
    let is_damaged = matches!(schunk.seal_state()?, SealState::BodyDamaged { .. });
    if is_damaged || !schunk.verify(&VerifyOptions::default(), |_| {}).is_ok() {
        return Err(message::DAMAGED_IS_NOT_SEALED.error());
    }
    // The open frame would keep the lock.
    drop(schunk);
    let checksums = match args.checksum {
        SealKind::Body => Checksums::Body,
        SealKind::Chunks => Checksums::Chunks,
        SealKind::None => Checksums::None,
    };
    seal(path, checksums, &cx.edit_options(0, args.lock))?;
    report(args, cx, origin)
}

fn report(args: &SealArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let (path, checksum) = (&*origin.name(), args.checksum);
    if cx.console.json() {
        return cx.console.document(&SealReport { path, checksum });
    }
    let done = if checksum == SealKind::None { "seal removed" } else { "sealed" };
    cx.console.note(&format!("{}: {done}", harmless(path)));
    Ok(())
}
