//! The variables of the environment, read at each call as the originals do.
