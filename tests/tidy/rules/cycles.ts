// No file imports itself through others, neither values nor types: a reader can take in a file
// after those that it imports, and need not know the ones that import it.

import { posix } from "node:path";
import { importsOf, lineAt } from "../syntax.ts";
import { type Finding, isTypeScript, type SourceFile, type Tree } from "../tree.ts";

export function cycles(tree: Tree): Finding[] {
  const files = new Map(tree.filter(isTypeScript).map((file) => [file.path, file]));
  const findings: Finding[] = [];
  const done = new Set<string>();
  // The files on the way from the first one to the one that is looked at.
  const way: string[] = [];
  const visit = (path: string, from: SourceFile, offset: number): void => {
    const file = files.get(path);
    if (file === undefined || done.has(path)) return;
    const start = way.indexOf(path);
    if (start >= 0) {
      const message = `a circle of imports: ${[...way.slice(start), path].join(" → ")}`;
      findings.push({ path: from.path, line: lineAt(from.text, offset), message });
      return;
    }
    way.push(path);
    for (const { specifier, offset } of importsOf(file)) {
      if (specifier.startsWith(".")) visit(targetOf(file, specifier), file, offset);
    }
    way.pop();
    done.add(path);
  };
  for (const file of files.values()) visit(file.path, file, 0);
  return findings;
}

function targetOf({ path }: SourceFile, specifier: string): string {
  return posix.join(posix.dirname(path), specifier);
}
