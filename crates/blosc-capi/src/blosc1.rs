//! The functions of C-Blosc: a compressor for the process, and chunks of Blosc 1.
