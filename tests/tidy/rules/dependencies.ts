// Each dependency has its reason in docs/architecture.md, in the table under "Dependencies", and
// each row of that table has its dependency.

import { posix } from "node:path";
import type { Finding, SourceFile, Tree } from "../tree.ts";

const PAGE = "docs/architecture.md";
const HEADING = "## Dependencies";
const FIELDS = [
  "dependencies",
  "devDependencies",
  "peerDependencies",
  "optionalDependencies",
] as const;

export function dependencies(tree: Tree): Finding[] {
  const manifests = tree.filter(({ path }) => posix.basename(path) === "package.json");
  const ours = new Set(manifests.map(({ text }) => JSON.parse(text).name));
  const reasons = readReasons(tree.find(({ path }) => path === PAGE)?.text ?? "");
  const used = new Set<string>();
  const findings: Finding[] = [];
  for (const manifest of manifests) {
    for (const name of dependenciesOf(manifest).filter((dependency) => !ours.has(dependency))) {
      used.add(name);
      if (reasons.get(name)) continue;
      const message = `${name} has no reason under "Dependencies" in ${PAGE}`;
      findings.push({ path: manifest.path, line: 0, message });
    }
  }
  for (const name of reasons.keys()) {
    if (used.has(name)) continue;
    findings.push({ path: PAGE, line: 0, message: `no package depends on ${name}` });
  }
  return findings;
}

function dependenciesOf({ text }: SourceFile): string[] {
  const manifest = JSON.parse(text);
  return FIELDS.flatMap((field) => Object.keys(manifest[field] ?? {}));
}

// Rows look like "| `name` | the reason |".
function readReasons(page: string): Map<string, string> {
  const start = page.indexOf(`\n${HEADING}\n`);
  const reasons = new Map<string, string>();
  if (start === -1) return reasons;
  const section = page.slice(start + HEADING.length + 2).split(/\n## /)[0] ?? "";
  for (const [, name = "", reason = ""] of section.matchAll(/^\| *`([^`]+)` *\|([^|\n]*)\|/gm)) {
    reasons.set(name, reason.trim());
  }
  return reasons;
}
