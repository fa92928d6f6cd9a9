//! Helps.
