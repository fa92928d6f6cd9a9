//! The names that a piece of code uses, read from its syntax: plain names, members, literals, routes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::syntax::FlatTree;

/// One use of a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Use {
    /// `add`.
    Name(String),
    /// `calc.add`, with the name before the dot if there is a plain one.
    Member(Option<String>, String),
    /// A member whose name starts with a known prefix: `getattr(self, "visit_" + kind)`.
    Prefix(String),
    /// A member whose name is only known at run time.
    Computed,
}

/// A use, and the route segments that a test must mention for the use to count: `app.get("/hello", hello)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Used {
    pub what: Use,
    pub route: Vec<String>,
}

/// The names and literals in a piece of code.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoundNames {
    pub uses: BTreeSet<Used>,
    /// Texts of literals.
    pub texts: BTreeSet<String>,
    /// All identifiers.
    pub words: BTreeSet<String>,
}

/// How to find the uses of names in a language.
#[derive(Clone, Copy)]
pub(crate) struct UseSyntax {
    /// The use that a node is, if any.
    pub used: fn(&FlatTree<'_>, usize) -> Option<Use>,
    /// If a node binds a local name: the function, block or loop in which the name is known.
    pub binds: fn(&FlatTree<'_>, usize) -> Option<usize>,
    /// The text of a literal node.
    pub text: for<'a> fn(&FlatTree<'a>, usize) -> Option<&'a str>,
    /// The path of the route that a call registers.
    pub route: for<'a> fn(&FlatTree<'a>, usize) -> Option<&'a str>,
}

/// Finds the uses of names in one file.
pub(crate) struct Reader<'t, 's> {
    tree: &'t FlatTree<'s>,
    use_syntax: UseSyntax,
    /// Local names, by the node of their scope.
    locals: BTreeMap<usize, BTreeSet<&'s str>>,
    routes: Vec<Route>,
}

/// A call that registers a handler for a path.
struct Route {
    /// The call, or the last call of its chain: `router.route("/a").get(b)`.
    call: usize,
    /// The nodes whose uses count only if a test mentions the route.
    nodes: Range<usize>,
    words: Vec<String>,
}

impl<'t, 's> Reader<'t, 's> {
    pub fn new(tree: &'t FlatTree<'s>, use_syntax: UseSyntax) -> Self {
        let mut locals: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
        let mut routes = Vec::new();
        for node in 0..tree.len() {
            if let Some(scope) = (use_syntax.binds)(tree, node) {
                locals.entry(scope).or_default().insert(tree.text(node));
            }
            if let Some(path) = (use_syntax.route)(tree, node) {
                let call = last_of_chain(tree, node);
                let first = tree.child(node, "arguments").unwrap_or(node);
                routes.push(Route { call, nodes: first..tree.subtree_end(call), words: segments(path) });
            }
        }
        Self { tree, use_syntax, locals, routes }
    }

    /// The names and literals in `nodes`, which are some or all nodes of `root`. Names that are local in `root` are not
    /// uses.
    pub fn found(&self, root: &Range<usize>, nodes: impl Iterator<Item = usize>) -> FoundNames {
        let mut found = FoundNames::default();
        for node in nodes {
            found.texts.extend((self.use_syntax.text)(self.tree, node).map(str::to_owned));
            if self.tree.is_word(node) {
                found.words.insert(self.tree.text(node).to_owned());
            }
            let Some(what) = (self.use_syntax.used)(self.tree, node) else { continue };
            if !matches!(&what, Use::Name(name) if self.is_local(root, node, name)) {
                found.uses.insert(Used { what, route: self.route(node) });
            }
        }
        found
    }

    /// The segments of the route that these nodes as a whole register.
    pub fn route_of(&self, nodes: &Range<usize>) -> Vec<String> {
        let is_whole = |route: &&Route| (nodes.start..=nodes.start + 1).contains(&route.call);
        self.routes.iter().find(is_whole).map(|route| route.words.clone()).unwrap_or_default()
    }

    fn is_local(&self, root: &Range<usize>, node: usize, name: &str) -> bool {
        let scopes = self.tree.ancestors(node).take_while(|outer| root.contains(outer));
        scopes.into_iter().any(|scope| self.locals.get(&scope).is_some_and(|names| names.contains(name)))
    }

    fn route(&self, node: usize) -> Vec<String> {
        let around = self.routes.iter().filter(|route| route.nodes.contains(&node));
        around.min_by_key(|route| route.nodes.len()).map(|route| route.words.clone()).unwrap_or_default()
    }
}

/// The last call of the chain that begins with this call: `router.route("/a").get(b)`.
fn last_of_chain(tree: &FlatTree<'_>, call: usize) -> usize {
    let mut last = call;
    for outer in tree.ancestors(call) {
        let is_step = matches!(tree.kind(outer), "member_expression" | "attribute" | "selector_expression");
        if tree.kind(outer).starts_with("call") && tree.child(outer, "function") == Some(tree.parent(last)) {
            last = outer;
        } else if !is_step {
            break;
        }
    }
    last
}

/// The fixed segments of a path, without its parameters: `users` of `/users/:id`.
pub(crate) fn segments(path: &str) -> Vec<String> {
    let path = path.rsplit(' ').next().unwrap_or(path);
    let is_plain = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || "-_.~".contains(c));
    path.split('/').filter(is_plain).map(str::to_lowercase).collect()
}

/// Functions that only register a handler for a path.
const REGISTERING: [&str; 14] = [
    "HandleFunc",
    "Handle",
    "add_url_rule",
    "add_route",
    "add_api_route",
    "add_get",
    "add_post",
    "route",
    "api_route",
    "websocket",
    "get_route",
    "re_path",
    "addRoute",
    "handle",
];

/// Methods that register a handler on a server, but do something else on a client.
const VERBS: [&str; 12] =
    ["get", "post", "put", "delete", "patch", "head", "options", "all", "any", "use", "on", "del"];

/// Usual names of servers.
const SERVERS: [&str; 12] =
    ["app", "router", "mux", "api", "bp", "blueprint", "server", "fastify", "engine", "routes", "r", "e"];

/// The path, if a call of `name` on `receiver` registers a handler for it.
pub(crate) fn registered<'a>(receiver: &str, name: &str, path: &'a str) -> Option<&'a str> {
    let is_path = path.starts_with('/') || path.split_once(' ').is_some_and(|(_, rest)| rest.starts_with('/'));
    let receiver = receiver.to_lowercase();
    let last = receiver.rsplit(['.', '_']).next().unwrap_or(&receiver);
    let is_server = SERVERS.contains(&last) || ["router", "app", "mux", "api"].iter().any(|end| last.ends_with(end));
    let registers = REGISTERING.contains(&name) || is_server && VERBS.contains(&name.to_lowercase().as_str());
    (is_path && registers).then_some(path)
}

/// The path of the route that a call registers, in a language with this kind of calls and this field for the name of a
/// member.
pub(crate) fn route_of<'a>(
    tree: &FlatTree<'a>,
    node: usize,
    (call, member): (&str, &str),
    text: fn(&FlatTree<'a>, usize) -> Option<&'a str>,
) -> Option<&'a str> {
    if tree.kind(node) != call {
        return None;
    }
    let function = tree.child(node, "function")?;
    let list = tree.child(node, "arguments")?;
    let first = tree.children(list).find(|child| tree.kind(*child) == "string")?;
    let receiver = tree.child(function, "object").map_or("", |object| tree.text(object));
    let name = tree.child(function, member).unwrap_or(function);
    registered(receiver, tree.text(name), text(tree, first)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_told_from_a_path_and_from_a_request() {
        assert_eq!(registered("app", "get", "/users"), Some("/users"));
        assert_eq!(registered("s.mux", "HandleFunc", "GET /users"), Some("GET /users"));
        for (receiver, name, path) in
            [("client", "get", "/users"), ("os", "open", "/etc"), ("app", "get", "users"), ("app", "send", "/users")]
        {
            assert_eq!(registered(receiver, name, path), None, "{receiver}.{name} {path}");
        }
    }

    #[test]
    fn the_parameters_of_a_route_are_nobodys_words() {
        for (path, expected) in [
            ("/users/:id/Orders", vec!["users", "orders"]),
            ("DELETE /a-b/{id}", vec!["a-b"]),
            ("/<int:id>", vec![]),
            ("/", vec![]),
        ] {
            assert_eq!(segments(path), expected, "{path}");
        }
    }
}
