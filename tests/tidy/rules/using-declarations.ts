// `using` is syntax that Node 22 does not have. The packages are published for it, so the build
// refuses such a declaration; this finds it minutes earlier. Tests and what they share may have it.

import { lineAt, parse, type Syntax, walk } from "../syntax.ts";
import { type Finding, isTest, isTypeScript, type SourceFile, type Tree } from "../tree.ts";

const PUBLISHED = /^(?:packages\/(?!sim\/)|apps\/)[^/]+\/src\/(?!.*\btesting\/)/;

export function usingDeclarations(tree: Tree): Finding[] {
  return tree
    .filter((file) => isTypeScript(file) && !isTest(file) && PUBLISHED.test(file.path))
    .flatMap(checkFile);
}

function checkFile(file: SourceFile): Finding[] {
  const findings: Finding[] = [];
  walk(parse(file).root, (node) => {
    if (!isUsing(node)) return;
    const message = "Node 22 has no using declarations: dispose in a finally block";
    findings.push({ path: file.path, line: lineAt(file.text, node.start), message });
  });
  return findings;
}

function isUsing({ type, kind }: Syntax): boolean {
  return type === "VariableDeclaration" && (kind === "using" || kind === "await using");
}
