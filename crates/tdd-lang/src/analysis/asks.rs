//! Follows names through the code of a test, to find what its assertions depend on.

use std::collections::BTreeSet;

/// Calls `follow` for every node, again and again, until no new name leads to production.
pub(crate) fn settle<'s>(
    leading: &mut BTreeSet<&'s str>,
    nodes: &(impl Iterator<Item = usize> + Clone),
    follow: impl Fn(usize, &mut BTreeSet<&'s str>),
) {
    loop {
        let before = leading.len();
        nodes.clone().for_each(|node| follow(node, leading));
        if leading.len() == before {
            return;
        }
    }
}

/// The windows (output, document, mock) through which a test observes production. Empty if the test uses no name that
/// leads to production.
pub(crate) fn shown<'s>(
    leading: &BTreeSet<&'s str>,
    used: &BTreeSet<&str>,
    windows: impl IntoIterator<Item = &'s str>,
) -> Vec<&'s str> {
    let asks = leading.iter().any(|name| used.contains(name));
    windows.into_iter().filter(|name| asks && used.contains(name)).collect()
}
