//! The program as its users run it: each case runs `b2` in its own directory, and checks both
//! outputs, the exit code and the remaining files.

mod append;
mod array;
mod bcolz;
mod bcolz_convert;
mod blp;
mod blp_array;
mod called;
#[cfg(target_os = "linux")]
mod calls;
mod chunk;
mod commands;
mod completions;
mod compress;
mod convert;
mod damage;
mod diff;
mod dump;
mod findings;
mod foreign;
mod formats_of_others;
mod frames;
mod from_store;
mod general;
mod hostile;
mod info;
#[cfg(unix)]
mod kills;
mod lossy;
#[cfg(target_os = "linux")]
mod manual;
mod matrix;
mod meta;
mod metadata;
mod mismatch;
mod names;
mod obeyed;
mod objects;
mod plot;
mod read;
mod recompress;
mod recursive;
mod refusals;
mod removal;
mod repack;
mod rescue;
mod safety;
mod samples;
mod scan;
mod schemas;
mod session;
mod shell;
mod show;
mod stats;
mod store_changes;
mod stores;
mod streams;
mod sum;
mod tables;
mod tails;
mod to_store;
mod trial;
mod tune;
mod verified;
mod verify;
