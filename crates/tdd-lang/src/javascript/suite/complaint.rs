//! Parses the TypeScript compiler's errors, if a runner lets it check the types of a test.

/// One compiler error: its place and subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Complaint {
    /// Relative to the project's folder.
    pub path: String,
    pub line: usize,
    pub about: About,
}

/// What an error is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// The text is not valid TypeScript.
    Syntax,
    /// This module is missing, or lacks an export.
    Module(String),
    /// A value is used in a way that its type does not allow.
    Use,
    /// A type that cannot be inferred because of another error.
    Consequence,
    /// Anything else.
    Other,
}

/// Codes for modules and their exports.
const MODULES: [u32; 6] = [2305, 2307, 2459, 2614, 2724, 7016];

/// Codes for members, arguments and types, which production may still change.
const USES: [u32; 40] = [
    2322, 2339, 2341, 2344, 2345, 2347, 2349, 2350, 2351, 2353, 2355, 2365, 2367, 2416, 2420, 2445, 2511, 2515, 2531,
    2532, 2533, 2540, 2551, 2554, 2555, 2556, 2558, 2559, 2560, 2561, 2571, 2575, 2576, 2673, 2674, 2739, 2740, 2741,
    2769, 2820,
];

/// The errors in a message, in order.
pub(super) fn complaints(message: &str) -> Vec<Complaint> {
    message.lines().filter_map(complaint).collect()
}

/// `src/a.test.ts:3:40 - error TS2554: Expected 2 arguments, but got 3.`
fn complaint(line: &str) -> Option<Complaint> {
    let (place, rest) = line.split_once(" - error TS")?;
    let (code, words) = rest.split_once(": ")?;
    let mut parts = place.trim().rsplitn(3, ':');
    let (_, line, path) = (parts.next()?, parts.next()?, parts.next()?);
    Some(Complaint { path: path.to_owned(), line: line.parse().ok()?, about: about(code.parse().ok()?, words) })
}

fn about(code: u32, words: &str) -> About {
    let module = || words.split('\'').nth(1).map(|quoted| quoted.trim_matches('"').to_owned());
    match code {
        1000..2000 => About::Syntax,
        _ if MODULES.contains(&code) => module().map_or(About::Other, About::Module),
        18046..=18049 => About::Use,
        _ if USES.contains(&code) => About::Use,
        7000..8000 => About::Consequence,
        _ => About::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_has_a_place_and_is_about_something() {
        let message = "src/a.test.ts:1:10 - error TS2305: Module '\"./calc\"' has no exported member 'sub'.\n\n\
                       1 import { sub } from './calc';\n           ~~~\nsrc/a.test.ts:3:40 - error TS2554: Expected 2 arguments, \
                       but got 3.\nsrc/a.test.ts:4:1 - error TS2304: Cannot find name 'x'.\nsrc/a.test.ts:5:1 - error TS1005: '}' \
                       expected.\nsrc/a.test.ts:6:1 - error TS7006: Parameter 'x' implicitly has an 'any' type.\n";
        let found: Vec<_> = complaints(message).into_iter().map(|it| (it.line, it.about)).collect();
        let module = About::Module("./calc".to_owned());
        let expected = [(1, module), (3, About::Use), (4, About::Other), (5, About::Syntax), (6, About::Consequence)];
        assert_eq!(found, expected);
        assert_eq!(complaints("Error: src/a.ts - error of another kind"), []);
    }
}
