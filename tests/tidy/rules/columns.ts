// Lines of 100 columns. The formatter breaks code but neither comments nor literals; a literal
// or an address that cannot be broken may run over.

import { parse, walk } from "../syntax.ts";
import { type Finding, isTypeScript, type SourceFile, type Tree } from "../tree.ts";

const COLUMNS_MAX = 100;

const LITERALS = new Set(["Literal", "TemplateElement", "JSXText"]);

export function columns(tree: Tree): Finding[] {
  return tree.filter(isTypeScript).flatMap(checkFile);
}

function checkFile(file: SourceFile): Finding[] {
  const findings: Finding[] = [];
  let start = 0;
  for (const [index, line] of file.text.split("\n").entries()) {
    if ([...line].length > COLUMNS_MAX && !isUnbreakable(file, start + COLUMNS_MAX)) {
      findings.push({ path: file.path, line: index + 1, message: `over ${COLUMNS_MAX} columns` });
    }
    start += line.length + 1;
  }
  return findings;
}

// Whether the text at the limit is one literal, or an address inside a comment.
function isUnbreakable(file: SourceFile, offset: number): boolean {
  const { root, comments } = parse(file);
  const comment = comments.find(({ start, end }) => start <= offset && offset < end);
  if (comment !== undefined) {
    const word = /\S*$/.exec(file.text.slice(0, offset))?.[0] ?? "";
    return /https?:/.test(word);
  }
  let isLiteral = false;
  walk(root, (node) => {
    if (LITERALS.has(node.type) && node.start <= offset && offset <= node.end + 2) isLiteral = true;
  });
  return isLiteral;
}
