//! None.
