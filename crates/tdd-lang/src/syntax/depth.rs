//! Finds texts that are nested too deeply, by their bytes alone: no parser has to read them.

use super::{MAX_CHAIN, MAX_DEPTH, MAX_INDENTATION};

/// How many operators a line that ends with a backslash counts as: the time of Python's parser grows with their square.
const CONTINUATION: usize = 10;

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

/// The operators and neighbouring tokens since the last comma, semicolon or statement. A bracket goes on with the
/// length outside of it, and its end returns to that.
#[derive(Default)]
struct Chain {
    length: usize,
    /// The length before each open bracket, outermost first.
    outer: Vec<usize>,
    /// The last byte that is neither white space nor in a comment.
    last: u8,
}

impl Chain {
    /// The longest chain in a line, including what it continues.
    fn grows(&mut self, line: &str) -> usize {
        let is_outermost = !line.starts_with(char::is_whitespace);
        let bytes = line.trim().as_bytes();
        let is_in_block_comment = matches!(bytes, [b'*'] | [b'*', b' ' | b'/', ..]);
        if bytes.is_empty() || is_in_block_comment || is_comment(bytes) {
            return self.length;
        }
        self.begin_line(bytes, is_outermost);
        let (mut longest, mut at, mut before_comment) = (self.length, 0, None);
        while at < bytes.len() {
            if before_comment.is_none() && bytes[at - at.min(1)] == b' ' && is_comment(&bytes[at..]) {
                before_comment = Some(self.last);
            }
            at = self.read_token(bytes, at);
            longest = longest.max(self.length);
        }
        self.last = before_comment.unwrap_or(self.last);
        longest
    }

    fn begin_line(&mut self, line: &[u8], is_outermost: bool) {
        let first = line[0];
        let is_applied = matches!(first, b'(' | b'[' | b'`') && ends_operand(self.last);
        let is_closed = matches!(first, b')' | b']' | b'}');
        if self.last == b'\\' {
            self.length += CONTINUATION;
        } else if !(is_closed || is_operator(self.last) || is_operator(first) || is_applied || is_else(line)) {
            // A quotation mark that begins no string hides a bracket; such a mistake ends here.
            if is_outermost {
                self.outer.clear();
            }
            self.end_statement();
            self.last = b';';
        }
    }

    fn end_statement(&mut self) {
        self.length = self.outer.last().copied().unwrap_or(0);
    }

    /// Reads the token that begins at a byte; returns where the next one begins.
    fn read_token(&mut self, bytes: &[u8], at: usize) -> usize {
        let byte = bytes[at];
        let mut end = at;
        if self.last == b';' && !byte.is_ascii_whitespace() && !is_else(&bytes[at..]) {
            self.end_statement();
        }
        match byte {
            _ if byte.is_ascii_whitespace() => return at + 1,
            b',' => self.end_statement(),
            b'\\' => end = (at + 1).min(bytes.len() - 1),
            b'"' | b'\'' | b'`' => {
                self.follow(byte, &bytes[at..]);
                end = end_of_string(bytes, at, byte).unwrap_or(at);
            }
            b'(' | b'[' | b'{' => {
                self.follow(byte, &bytes[at..]);
                self.outer.push(self.length);
            }
            b')' | b']' | b'}' => self.length = self.outer.pop().unwrap_or(self.length),
            _ if is_operator(byte) => self.length += 1,
            _ if is_word(byte) => {
                self.follow(byte, &bytes[at..]);
                end += bytes[at + 1..].iter().take_while(|byte| is_word(**byte)).count();
            }
            _ => {}
        }
        self.last = bytes[end];
        end + 1
    }

    /// Counts a token that stands beside another one: `not not a` and `a()[0]()` nest like operators. After a block,
    /// only `else` and an application go on.
    fn follow(&mut self, first: u8, rest: &[u8]) {
        let goes_on = matches!(first, b'(' | b'[' | b'`') || is_else(rest);
        if self.last == b'}' && !goes_on {
            self.end_statement();
        } else if ends_operand(self.last) {
            self.length += 1;
        }
    }
}

fn is_comment(text: &[u8]) -> bool {
    match text {
        [b'/', b'/' | b'*', ..] => true,
        [b'#', next, ..] => !matches!(next, b'[' | b'!'),
        [b'#'] => true,
        _ => false,
    }
}

fn is_else(text: &[u8]) -> bool {
    text.starts_with(b"else")
}

fn is_operator(byte: u8) -> bool {
    b"+-*/%.&|^!~<>=?:@".contains(&byte)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#') || !byte.is_ascii()
}

/// Whether an operand can end with this byte.
fn ends_operand(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b')' | b']' | b'}' | b'"' | b'\'' | b'`')
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
            ("if a {\n} else ", ""),
            ("if (a) {\n  b();\n}\nelse ", ""),
            ("map[int]", ""),
            ("map[int, int]", ""),
            ("for(;;) ", ""),
            ("for(a, b;;)", ""),
            ("if(a) b; else ", ""),
            ("if(a){b}else ", ""),
            ("a`b`", ""),
            ("'a' ", ""),
            ("é\t", ""),
            ("$a  ", ""),
            ("a\n[0]", ""),
            ("a\n(b)", ""),
            ("a\\\n", ""),
            ("1\n\n+ ", ""),
            ("1 +\n\n", ""),
            ("1 + // a\n", ""),
            ("1\n# a\n+ ", ""),
            ("f(')', ", ""),
            ("*", ""),
            ("#[a]", ""),
            ("async () => ", ""),
            ("a?.b", ""),
            ("a: ", ""),
            ("**", ""),
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
            "if (a) {\n  b();\n} else {\n  c();\n}\n",
            "elif a:\n    b\n",
            "function a(b){c.d=e;return f(g)}",
            "if(a){b}",
            "for(a=0;a<b;a++)c(a);",
            "(a.b(c));",
            "[1, 2],\n",
            "{a: b.c},\n",
            "f(a, {\n  b: c,\n});\n",
            "    .a(b);\n",
            "x = f()  # a (b.c)\n",
            "#[a(b)]\n#[c]\nd;\n",
            "a, b := f()\n",
            "a\n\n",
            "    \"a\"\n",
            "\"\"\"a b.\"\"\"\n",
        ] {
            assert_eq!(first_too_deep(&line.repeat(MANY)), None, "{line}");
        }
        assert_eq!(first_too_deep(&format!("a = '{}'", "+ ".repeat(MANY))), None);
        assert_eq!(first_too_deep(&format!("a = '{}", "\\'".repeat(MANY))), None);
    }
}
