//! From errors to the numbers of the originals.
