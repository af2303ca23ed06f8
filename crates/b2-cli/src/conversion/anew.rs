//! Compression of data that cannot be moved, or that the options change.

use blosc_chunk::{Registries, Target as Reader};
use blosc_data::convert::know_filters;

use super::{Convert, Durability, OpenedInput, Origin, Path, Settings, origin, targets};
use crate::{
    args::{ChecksumChoice, ConvertArgs, ConvertedFormat},
    error::{Error, Result, message},
    inputs::Place,
};

/// Refuses options that make no sense for any input.
pub(crate) fn check(args: &ConvertArgs, format: ConvertedFormat) -> Result<()> {
    let is_blp = format == ConvertedFormat::Blp;
    let is_store = matches!(format, ConvertedFormat::B2z | ConvertedFormat::B2d);
    if is_store && args.output.rm {
        return Err(message::STORE_KEEPS_INPUT.error());
    }
    let fits = |choice: ChecksumChoice| match format {
        ConvertedFormat::Blp => choice.digest().is_some(),
        ConvertedFormat::B2frame
        | ConvertedFormat::Sframe
        | ConvertedFormat::B2nd
        | ConvertedFormat::Carray
        | ConvertedFormat::Ctable => choice.seal().is_some(),
        _ => choice == ChecksumChoice::None,
    };
    if !args.checksum.is_none_or(fits) {
        return Err(message::NO_CHECKSUM.about(format.name()));
    }
    let registries = Registries::default();
    let lossy = args.anew.filter.filter(|filter| filter.is_lossy(&registries.filters));
    if let Some(filter) = lossy {
        return Err(message::LOSSY_CONVERT.about(format!("the filter {filter}")));
    }
    let codec = args.anew.codec.and_then(|choice| registries.codecs.get(choice.id));
    if let Some(codec) = codec.filter(|codec| codec.is_lossy()) {
        return Err(message::LOSSY_CONVERT.about(format!("the codec {}", codec.name())));
    }
    let holds_data = matches!(
        format,
        ConvertedFormat::Raw
            | ConvertedFormat::Npy
            | ConvertedFormat::Csv
            | ConvertedFormat::Parquet
    );
    if holds_data && (args.anew.is_wanted() || args.anew.target.is_some()) {
        return Err(message::NOT_COMPRESSED.about(format.name()));
    }
    if format == ConvertedFormat::Chunk && args.anew.chunk_size.is_some() {
        return Err(message::ONE_CHUNK.error());
    }
    if let (Some(target), Some(filter)) = (args.anew.target, &args.anew.filter)
        && !know_filters(filter, target)
    {
        return Err(message::FILTER_FOR_TARGET.about(target));
    }
    match args.anew.target {
        Some(target) if matches!(format, ConvertedFormat::Carray | ConvertedFormat::Ctable) => {
            Err(Error::FormatForTarget { format: format.name(), target })
        }
        Some(target)
            if format != ConvertedFormat::Chunk && (target < Reader::Blosc2_0) != is_blp =>
        {
            Err(Error::FormatForTarget { format: format.name(), target })
        }
        _ => Ok(()),
    }
}

impl Convert<'_> {
    /// The options as the library takes them.
    pub(super) fn settings(self, origin: &Origin) -> Settings {
        let Self { args, output, cx, format } = self;
        let unchecked = args.checks.no_check;
        // Only frames have sums that tell which chunk is damaged; these sums are of single files.
        let is_bcolz = matches!(format, ConvertedFormat::Carray | ConvertedFormat::Ctable);
        let seal = || args.checksum.and_then(ChecksumChoice::seal);
        let none = |is| bool::then_some(is, ChecksumChoice::None);
        let durability =
            if output.no_sync { Durability::ProcessDeath } else { Durability::PowerLoss };
        Settings::default()
            .format(format)
            .compression(args.anew.compression())
            .dtype(args.dtype.clone())
            .shape(args.shape.clone())
            .checksums(none(unchecked && is_bcolz).and_then(ChecksumChoice::seal).or_else(seal))
            .digest(none(unchecked).or(args.checksum).and_then(ChecksumChoice::digest))
            .key(value_key(origin))
            .column(column_name(origin))
            .durability(durability)
            .resources(cx.resources().clone())
            .open(cx.read_params())
            .unfinished(cx.unfinished.clone())
    }
}

/// The key of the only value: the name of the input.
fn value_key(origin: &Origin) -> String {
    if let Origin::File { part: origin::Part::Member(key), .. } = origin {
        return format!("/{}", key.rsplit('/').next().unwrap_or(key));
    }
    if let Origin::Opened(OpenedInput { name, .. }) = origin {
        let last = targets::last_name(name).to_string_lossy();
        return format!("/{}", last.split('.').next().unwrap_or(&last));
    }
    let stem = origin.path().and_then(Path::file_stem);
    let name = stem.map_or_else(|| "data".into(), |name| name.to_string_lossy());
    format!("/{name}")
}

/// The name of the column that a one-column table gets from the input.
fn column_name(origin: &Origin) -> Option<String> {
    let path = origin.place()?;
    let is_column = path.is_bcolz() && Place::from(path.parent()?).is_bcolz();
    Some(path.file_name()?.to_str()?.to_owned()).filter(|_| is_column)
}
