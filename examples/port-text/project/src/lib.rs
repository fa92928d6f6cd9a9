//! Small functions on text, ported from `reference/text.py`.
