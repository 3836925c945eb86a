// A file is named after one noun or one verb. These names say nothing and collect everything.

import type { Finding, Tree } from "../tree.ts";

const EMPTY_NAMES = new Set([
  "util",
  "utils",
  "common",
  "helper",
  "helpers",
  "manager",
  "managers",
  "misc",
]);

export function fileNames(tree: Tree): Finding[] {
  return tree.flatMap(({ path }) =>
    path
      .split("/")
      .filter((part) => EMPTY_NAMES.has(part.replace(/\..*/, "")))
      .map((part) => ({ path, line: 0, message: `"${part}" does not say what is in it` })),
  );
}
