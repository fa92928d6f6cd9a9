//! Finds texts that are nested too deeply, by their bytes alone: no parser has to read them.

use super::{MAX_CHAIN, MAX_DEPTH, MAX_INDENTATION};

/// The row at which brackets or indentation are nested too deeply, or an expression is too long.
pub(super) fn first_too_deep(text: &str) -> Option<usize> {
    let (mut brackets, mut chain, mut indentation) = (0, Chain::default(), Indentation::default());
    for (row, line) in text.lines().enumerate() {
        if indentation.deepens(line) > MAX_INDENTATION
            || deepest_bracket(&mut brackets, line) > MAX_DEPTH
            || chain.grows(line) > MAX_CHAIN
        {
            return Some(row);
        }
    }
    None
}

/// The deepest nesting of brackets in a line, including those in strings and comments; `open` goes on to the next line.
fn deepest_bracket(open: &mut usize, line: &str) -> usize {
    let mut deepest = *open;
    for byte in line.bytes() {
        match byte {
            b'(' | b'[' | b'{' => *open += 1,
            b')' | b']' | b'}' => *open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(*open);
    }
    deepest
}

/// The indentations of the lines around a line, outermost first.
#[derive(Default)]
struct Indentation(Vec<usize>);

impl Indentation {
    /// The number of indentations around a line, with its own.
    fn deepens(&mut self, line: &str) -> usize {
        let own = line.len() - line.trim_start().len();
        if own < line.len() {
            while self.0.last().is_some_and(|outer| *outer >= own) {
                self.0.pop();
            }
            self.0.push(own);
        }
        self.0.len()
    }
}

/// The operators and neighbouring words since the last comma, semicolon or statement.
#[derive(Default)]
struct Chain {
    length: usize,
    /// The last line ended with an operator.
    goes_on: bool,
}

impl Chain {
    /// The longest chain in a line, including what it continues.
    fn grows(&mut self, line: &str) -> usize {
        let line = line.trim();
        let is_comment = ["//", "#", "/*", "*"].iter().any(|start| line.starts_with(start));
        if is_comment || !(self.goes_on || line.starts_with(is_operator)) {
            self.length = 0;
        }
        self.goes_on = !is_comment && line.ends_with(|last| is_operator(last) || last == '\\');
        let mut longest = self.length;
        let (bytes, mut at) = (line.as_bytes(), 0);
        while at < bytes.len() && !is_comment {
            match bytes[at] {
                b',' | b';' => self.length = 0,
                quote @ (b'"' | b'\'' | b'`') => at = end_of_string(bytes, at, quote).unwrap_or(at),
                // `a()[0]()` nests like an operator, and so do words one after the other: `not not a`.
                b')' | b']' if is_word(bytes.get(at + 1)) || bytes.get(at + 1) == Some(&b'[') => self.length += 1,
                b' ' if is_word(bytes.get(at + 1)) && is_word(at.checked_sub(1).and_then(|at| bytes.get(at))) => {
                    self.length += 1;
                }
                byte if is_operator(char::from(byte)) => self.length += 1,
                _ => {}
            }
            longest = longest.max(self.length);
            at += 1;
        }
        longest
    }
}

fn is_operator(c: char) -> bool {
    "+-*/%.&|^!~<>=?:@".contains(c)
}

fn is_word(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'(' | b')'))
}

/// The end of a string that ends in its line.
fn end_of_string(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let mut at = start + 1;
    while *bytes.get(at)? != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: usize = 100_000;

    #[test]
    fn what_people_do_not_write_is_too_deep() {
        for (open, close) in [
            ("(", ")"),
            ("{", ""),
            ("`${", ""),
            ("mod a {\n", "}\n"),
            ("f(", ""),
            ("a.", ""),
            ("()", ""),
            ("[0]", ""),
            ("-", ""),
            ("- ", ""),
            ("not ", ""),
            ("typeof ", ""),
            ("1 if 1 else ", ""),
            ("lambda: ", ""),
            ("a => ", ""),
            ("1+", ""),
            ("1\n+ ", ""),
            ("1 +\n", ""),
            ("1 + \\\n", ""),
            ("a = ", ""),
            ("a::<u8>::", ""),
            ("'a' + ", ""),
            ("if (a) ", ""),
            ("if a {} else ", ""),
            ("[]", ""),
        ] {
            let text = format!("x\n{}1{}", open.repeat(MANY), close.repeat(MANY));
            assert!(first_too_deep(&text).is_some_and(|row| row > 0), "{open}");
        }
        let blocks: Vec<String> = (0..1_000).map(|n| format!("{}if 1:\n", " ".repeat(n))).collect();
        assert_eq!(first_too_deep(&blocks.concat()), Some(MAX_INDENTATION));
    }

    #[test]
    fn long_texts_are_not_too_deep() {
        for line in [
            "// a - b\n",
            "# a.b\n",
            " * a b\n",
            "f(1, 2)\n",
            "a.b = c + d;\n",
            "    (1, 'a - b'),\n",
            "1, ",
            "a = 1; ",
            "<li>a</li>,\n",
            "- a: b, c\n",
            "it's one\n",
            "x = \"a + b\"\n",
            "if a:\n    b\n",
            "} else if (a) {\n  b();\n",
        ] {
            assert_eq!(first_too_deep(&line.repeat(MANY)), None, "{line}");
        }
        assert_eq!(first_too_deep(&format!("a = '{}'", "+ ".repeat(MANY))), None);
    }
}
