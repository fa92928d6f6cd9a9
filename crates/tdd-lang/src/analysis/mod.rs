//! Source analysis that the languages share: how two trees differ, and which signs of anti-patterns they show.

pub(crate) mod answers;
pub(crate) mod asks;
pub(crate) mod claims;
pub(crate) mod compare;
pub(crate) mod intrusions;
pub(crate) mod pairs;
pub(crate) mod signs;
pub(crate) mod steering;
