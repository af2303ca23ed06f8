//! The operations of Bloscpack files.

use blosc_io::{MemStore, WriteAt};
use bloscpack::{AppendOptions, Durability, WriteOptions, append, pack, recover, rewrite_metadata};
use serde_json::json;

use super::{Content, Operation, disk::FileDisk, frames::data};
use crate::{
    container::bloscpack::{open_store, read_options, verify_file},
    failure::Result,
};

const CHUNKSIZE: u32 = 1000;

type Change = fn(&mut Box<dyn WriteAt>) -> bloscpack::Result<()>;

macro_rules! operations {
    ($($name:literal: $change:expr,)*) => {
        vec![$(Operation {
            container: "blp",
            name: $name,
            make,
            change: |mut store| {
                let change: Change = $change;
                Ok(change(&mut store)?)
            },
            read,
            next: |mut store| {
                recover(&mut store)?;
                Ok(append_bytes(&mut store, b"more", AppendOptions::default())?)
            },
            more: b"more",
        }),*]
    };
}

pub(super) fn all() -> Vec<Operation<FileDisk>> {
    operations! {
        "append": |store| append_bytes(store, &data(3333, 7), AppendOptions::default()),
        "append a little": |store| append_bytes(store, b"x", AppendOptions::default()),
        "metadata": |store| {
            rewrite_metadata(store, &json!({ "n": 3, "more": [1, 2, 3] }), Durability::PowerLoss)
        },
        "append with metadata": |store| {
            let options = AppendOptions::default().metadata(Some(json!({ "n": 2 })));
            append_bytes(store, &data(3333, 8), options)
        },
    }
}

fn append_bytes(
    store: &mut Box<dyn WriteAt>,
    data: &[u8],
    options: AppendOptions,
) -> bloscpack::Result<()> {
    append(store, data, data.len() as u64, &options.read(read_options())).map(drop)
}

fn make() -> Result<FileDisk> {
    let options = WriteOptions::default().chunksize(CHUNKSIZE).metadata(Some(json!({ "n": 1 })));
    Ok(FileDisk::new(pack(&data(2500, 1), options)?))
}

fn read(disk: &FileDisk) -> Result<Content> {
    let file = open_store(MemStore::new(disk.bytes().to_vec()))?;
    verify_file(&file)?;
    let mut data = vec![];
    std::io::Read::read_to_end(&mut file.reader(), &mut data)?;
    let rest = format!("{:?}", file.metadata().and_then(|metadata| metadata.json()));
    Ok(Content { data, rest })
}
