//! What the languages share in judging source: how two trees differ, and what that did to tests, items and steering
//! files.

pub(crate) mod answers;
pub(crate) mod asks;
pub(crate) mod compare;
pub(crate) mod pairs;
pub(crate) mod signs;
pub(crate) mod steering;
