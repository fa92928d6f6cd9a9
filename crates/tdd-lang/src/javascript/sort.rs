//! Sorts a repository's files into production, tests, runner configuration and documents.

use tdd_core::change::Sort;

use super::items::{in_test_folder, is_test_file};
use super::{ENDINGS, owns};
use crate::sort::sorted;

/// Runner configuration files, in any folder.
const STEERING_NAMES: [&str; 28] = [
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "pnpmfile.cjs",
    ".pnpmfile.cjs",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "bunfig.toml",
    "deno.json",
    "lerna.json",
    "nx.json",
    "turbo.json",
    "jsconfig.json",
    "biome.json",
    "biome.jsonc",
    "oxlintrc.json",
    ".npmrc",
    ".nvmrc",
    ".node-version",
    ".tool-versions",
    ".editorconfig",
    ".browserslistrc",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    "setupTests",
];

/// Prefixes of tool configuration files: `vitest.config.ts`, `.eslintrc.cjs`, `tsconfig.test.json`.
const STEERING_STARTS: [&str; 30] = [
    "vitest.config.",
    "vitest.workspace.",
    "vitest.setup.",
    "vitest.global",
    "vite.config.",
    "jest.config.",
    "jest.setup.",
    "jest-setup.",
    "jest.preset.",
    "jest.global",
    "setupTests.",
    "babel.config.",
    ".babelrc",
    ".swcrc",
    "swc.config.",
    "tsconfig.",
    "tsup.config.",
    "rollup.config.",
    "webpack.config.",
    "esbuild.config.",
    "node.config.",
    "eslint.config.",
    ".eslintrc",
    ".eslintignore",
    ".prettierrc",
    ".prettierignore",
    "prettier.config.",
    ".yarnrc",
    ".env",
    ".mocharc",
];

/// Folders that contain only runner configuration, besides those of all languages.
const STEERING_FOLDERS: [&str; 4] = ["node_modules", ".yarn", ".husky", ".vscode"];

/// The sort of a path, whether or not the file exists.
pub fn sort(path: &str) -> Sort {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    sorted(is_runner_configuration(path), is_test_file(path) || in_test_folder(folders), owns(path) || is_loaded(path))
}

/// Whether a path is runner configuration by its name alone.
pub(super) fn is_runner_configuration(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    crate::sort::is_runner_configuration(path, &STEERING_NAMES, &STEERING_FOLDERS)
        || STEERING_STARTS.iter().any(|start| name.starts_with(start))
        || name.rsplit_once('.').is_some_and(|(_, ending)| ending == "node")
        || name == path && owns(name) && name.contains(".config.")
}

/// Whether a file in another language is code that a program may load.
fn is_loaded(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    !ENDINGS.contains(&ending) && matches!(ending, "wasm" | "vue" | "svelte")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sort_of: Sort, paths: &[&str]) {
        for path in paths {
            assert_eq!(sort(path), sort_of, "{path}");
        }
    }

    #[test]
    fn every_file_has_its_place() {
        check(Sort::Production, &["calc.js", "src/calc.ts", "lib/vitest.js", "src/config.mjs", "src/app.config.ts"]);
        check(
            Sort::Test,
            &["calc.test.js", "test/helper.js", "__snapshots__/a.snap", "test/data.json", "__mocks__/fs.js"],
        );
        check(Sort::Document, &["README.md", "data.json", "docs/a.html"]);
    }

    #[test]
    fn what_steers_the_runner_is_steering_wherever_it_stands() {
        check(
            Sort::Steering,
            &["package.json", "src/package.json", "vitest.config.ts", "jest.config.js", "tsconfig.json"],
        );
        check(Sort::Steering, &["node_modules/vitest/index.js", "test/jest.setup.js", ".babelrc", "eslint.config.mjs"]);
        check(Sort::Steering, &["pnpm-lock.yaml", "addon.node", ".env.test", "tsconfig.test.json", "svelte.config.js"]);
    }
}
