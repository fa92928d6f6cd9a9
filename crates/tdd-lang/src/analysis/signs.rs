//! Builds the signs of anti-patterns out of what a language finds in its syntax.

use std::collections::BTreeSet;
use std::ops::Range;

use tdd_core::signs::{Answer, Place, Sample};

use crate::syntax::FlatTree;

/// The sample of a comparison: the literals of the sides that ask production, and those of the sides that say what is
/// expected. `None` if either has none.
pub(crate) fn sample<L: IntoIterator<Item = String>>(
    asked: Vec<usize>,
    expected: Vec<usize>,
    literals: impl Fn(usize) -> L,
) -> Option<Sample> {
    let all = |sides: Vec<usize>| sides.into_iter().flat_map(&literals).collect::<BTreeSet<_>>();
    let sample = Sample { inputs: all(asked), expected: all(expected) };
    (!sample.inputs.is_empty() && !sample.expected.is_empty()).then_some(sample)
}

/// A comparison with literals that answers with literals. `None` if it lacks either.
pub(crate) fn answer(
    item: &Place,
    line: usize,
    compared: impl IntoIterator<Item = String>,
    returned: impl IntoIterator<Item = String>,
) -> Option<Answer> {
    let (compared, returned) =
        (compared.into_iter().collect::<BTreeSet<_>>(), returned.into_iter().collect::<BTreeSet<_>>());
    (!compared.is_empty() && !returned.is_empty()).then(|| Answer { item: item.clone(), line, compared, returned })
}

/// The nodes that stand within a part of the text, from `first` on.
pub(crate) fn nodes_within<'t>(
    tree: &'t FlatTree<'_>,
    first: usize,
    span: &'t Range<usize>,
) -> impl Iterator<Item = usize> + 't {
    (first..tree.len()).filter(move |node| {
        let range = tree.range(*node);
        span.start <= range.start && range.end <= span.end
    })
}
