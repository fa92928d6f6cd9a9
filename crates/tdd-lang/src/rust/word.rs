//! Rust's reserved words, and how names are written that use them.

/// Words that can be names only with `r#`, in any edition.
const RESERVED: [&str; 53] = [
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super",
    "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "_",
];

/// Macros of the standard library that only compute, print or wrap their arguments.
pub(super) const COMPUTING_MACROS: [&str; 20] = [
    "vec",
    "format",
    "format_args",
    "matches",
    "print",
    "println",
    "eprint",
    "eprintln",
    "dbg",
    "write",
    "writeln",
    "concat",
    "stringify",
    "line",
    "file",
    "column",
    "cfg",
    "env",
    "option_env",
    "thread_local",
];

pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// A name as the compiler prints it, with `r#` only if needed.
pub(super) fn printed(name: &str) -> &str {
    let plain = bare(name);
    if is_reserved(plain) { name } else { plain }
}

/// A name as it appears in file names.
pub(super) fn bare(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raw_name_keeps_its_mark_only_where_the_compiler_prints_it() {
        assert_eq!([printed("r#type"), printed("r#adds"), printed("adds")], ["r#type", "adds", "adds"]);
        assert_eq!(bare("r#type"), "type");
    }
}
