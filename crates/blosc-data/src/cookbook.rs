//! Short answers to common questions. Two longer programs are in `examples/`: `look` tells what a
//! file is, `column_sums` reads a table in bounded memory.
//!
//! # A file of unknown kind
//!
//! ```
//! # let dir = tempfile::tempdir()?;
//! # let file = dir.path().join("unknown");
//! # std::fs::write(&file, b2frame::to_cframe(b"abc", &b2frame::FrameParams::default())?)?;
//! use blosc_data::{Data, open};
//!
//! let found = open(&file)?;
//! let text = match &found.data {
//!     Data::Array(array) => format!("{:?} items of {}", array.shape(), array.dtype()),
//!     Data::Table(table) => format!("{} rows", table.nrows()),
//!     Data::Group(group) => format!("{} members", group.members()?.len()),
//!     Data::Bytes(bytes) => format!("{} bytes", bytes.nbytes()),
//!     other => other.kind_name().to_owned(),
//! };
//! assert_eq!(text, "3 bytes");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A part of any array as an array of `ndarray`
//!
//! ```
//! # let dir = tempfile::tempdir()?;
//! # let file = dir.path().join("grid.b2nd");
//! # let params = b2frame::NdParams::new(&[3, 4], "<i4".parse()?);
//! # let mut writer = b2frame::NdWriter::create(&file, &params)?;
//! # writer.write_slice((.., ..), &(0..12_i32).collect::<Vec<_>>())?;
//! # writer.finish()?;
//! let array = blosc_data::open(&file)?.into_array()?;
//! let part = ndarray::Array2::from_shape_vec((2, 4), array.to_vec::<i32>((1.., ..))?)?;
//! assert_eq!((part[[0, 0]], part[[1, 3]]), (4, 11));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rows and columns of any table
//!
//! ```
//! # let dir = tempfile::tempdir()?;
//! # let file = dir.path().join("trades.b2z");
//! # let mut writer = b2store::StoreWriter::create(&file)?;
//! # let columns = [b2store::NewColumn::new("id", b2store::ColumnKind::Fixed("i8"))];
//! # let ids = (0..9_i64).flat_map(i64::to_le_bytes).collect();
//! # let values = [b2store::ColumnValues::fixed("<i8".parse()?, ids)];
//! # writer.insert_table("/", &columns, &values)?;
//! # writer.commit()?;
//! use blosc_data::Value;
//!
//! let table = blosc_data::open(&file)?.into_table()?;
//! let rows = table.filter("id > 6")?.matches(0..table.nrows())?;
//! assert_eq!(rows, [7, 8]);
//! let read = table.read(&["id"], 7..9)?;
//! assert_eq!(read[0].value(1), Value::Int(8));
//!
//! // One column, as a table of its own.
//! let ids = blosc_data::open(format!("{}::/id", file.display()))?.into_table()?;
//! assert_eq!(ids.columns().len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A column as an array of Arrow (feature `arrow`)
//!
//! ```
//! # #[cfg(feature = "arrow")] {
//! # let dir = tempfile::tempdir()?;
//! # let file = dir.path().join("trades.b2z");
//! # let mut writer = b2store::StoreWriter::create(&file)?;
//! # let columns = [b2store::NewColumn::new("id", b2store::ColumnKind::Fixed("i8"))];
//! # let ids = (0..9_i64).flat_map(i64::to_le_bytes).collect();
//! # let values = [b2store::ColumnValues::fixed("<i8".parse()?, ids)];
//! # writer.insert_table("/", &columns, &values)?;
//! # writer.commit()?;
//! use arrow_array::{cast::AsArray, types::Int64Type};
//!
//! let table = blosc_data::open(&file)?.into_table()?;
//! let batch = table.record_batch(&[table.column("id")?], 0..table.nrows())?;
//! assert_eq!(batch.column(0).as_primitive::<Int64Type>().value(8), 8);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Looking for damage
//!
//! ```
//! use blosc_data::verify::{VerifyOptions, verify};
//! use blosc_data::{OpenOptions, open_bytes};
//!
//! let mut frame = b2frame::to_cframe(&[7; 1000], &b2frame::FrameParams::default())?;
//! let sound = |frame: &[u8]| {
//!     let found = open_bytes(frame.to_vec(), "frame", &OpenOptions::default())?;
//!     let report = verify(&found, &VerifyOptions::default(), &mut |_| ())?;
//!     Ok::<_, blosc_data::Error>(report.is_ok())
//! };
//! assert!(sound(&frame)?);
//! let last = frame.len() - 40;
//! frame[last] ^= 1;
//! assert!(!sound(&frame).unwrap_or(false));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
