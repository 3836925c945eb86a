// No two exported classes have one name: a search for a class has one answer.

import { isSyntax, lineAt, parse } from "../syntax.ts";
import { type Finding, isTest, isTypeScript, type SourceFile, type Tree } from "../tree.ts";

export function classNames(tree: Tree): Finding[] {
  const first = new Map<string, SourceFile>();
  const findings: Finding[] = [];
  for (const file of tree.filter((each) => isTypeScript(each) && !isTest(each))) {
    for (const { name, offset } of exportedClasses(file)) {
      const other = first.get(name);
      if (other === undefined) first.set(name, file);
      else {
        const message = `class ${name} is in ${other.path} too: give one of them another name`;
        findings.push({ path: file.path, line: lineAt(file.text, offset), message });
      }
    }
  }
  return findings;
}

function exportedClasses(file: SourceFile): { name: string; offset: number }[] {
  const body = parse(file).root.body as readonly unknown[];
  return body.flatMap((node) => {
    if (!isSyntax(node) || !node.type.startsWith("Export")) return [];
    const { declaration } = node;
    if (!isSyntax(declaration) || declaration.type !== "ClassDeclaration") return [];
    const { id } = declaration;
    return isSyntax(id) ? [{ name: String(id.name), offset: declaration.start }] : [];
  });
}
