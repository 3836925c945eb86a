// Files and functions that fit into a reader's head.

import { lineAt, parse, type Syntax, walk } from "../syntax.ts";
import { type Finding, isTypeScript, type SourceFile, type Tree } from "../tree.ts";

// The hard limits. What we aim for is 300 and 40; the room above is for a table or a parser.
const FILE_LINES_MAX = 500;
const FUNCTION_LINES_MAX = 70;

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

// Their function only groups tests: it is a heading, not code.
const GROUPS = new Set(["describe", "suite"]);

export function size(tree: Tree): Finding[] {
  return tree.filter(isTypeScript).flatMap((file) => [...checkFile(file), ...checkFunctions(file)]);
}

function checkFile({ path, text }: SourceFile): Finding[] {
  const lines = lineAt(text, text.trimEnd().length);
  if (lines <= FILE_LINES_MAX) return [];
  return [{ path, line: 0, message: `has ${lines} lines, at most ${FILE_LINES_MAX}` }];
}

function checkFunctions(file: SourceFile): Finding[] {
  const findings: Finding[] = [];
  walk(parse(file).root, (node, parent) => {
    if (!FUNCTIONS.has(node.type) || isGroup(parent)) return;
    const line = lineAt(file.text, node.start);
    const lines = lineAt(file.text, node.end) - line + 1;
    if (lines <= FUNCTION_LINES_MAX) return;
    const message = `a function of ${lines} lines, at most ${FUNCTION_LINES_MAX}`;
    findings.push({ path: file.path, line, message });
  });
  return findings;
}

function isGroup(parent: Syntax): boolean {
  if (parent.type !== "CallExpression") return false;
  return GROUPS.has(String((parent.callee as Syntax).name));
}
