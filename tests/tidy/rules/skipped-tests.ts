// A test that does not run says why, and `only` never stays in the tree.
//
// With a reason: `test("...", { skip: "needs a disk" }, ...)`, `t.skip("needs a disk")`.

import { isSyntax, lineAt, parse, type Syntax, walk } from "../syntax.ts";
import { type Finding, isTest, type SourceFile, type Tree } from "../tree.ts";

const DECLARING = new Set(["test", "it", "describe", "suite"]);
const MARKS = new Set(["skip", "todo", "only"]);

export function skippedTests(tree: Tree): Finding[] {
  return tree.filter(isTest).flatMap(checkFile);
}

function checkFile(file: SourceFile): Finding[] {
  const findings: Finding[] = [];
  walk(parse(file).root, (node, parent, field) => {
    const message = judgeCall(node) ?? judgeOption(node, parent, field);
    if (message === undefined) return;
    findings.push({ path: file.path, line: lineAt(file.text, node.start), message });
  });
  return findings;
}

function judgeCall(node: Syntax): string | undefined {
  if (node.type !== "CallExpression") return undefined;
  const callee = node.callee as Syntax;
  if (callee.type !== "MemberExpression") return undefined;
  const mark = String((callee.property as Syntax).name);
  const on = String((callee.object as Syntax).name);
  if (!MARKS.has(mark)) return undefined;
  if (DECLARING.has(on)) {
    return mark === "only" ? `${on}.only` : `${on}.${mark}: use { ${mark}: "the reason" }`;
  }
  const isContext = on === "t" || on === "context";
  const [reason] = node.arguments as Syntax[];
  return isContext && !isReason(reason) ? `${on}.${mark}() without a reason` : undefined;
}

// Checks an options object among the arguments of a call that declares a test.
function judgeOption(node: Syntax, parent: Syntax, field: string): string | undefined {
  if (node.type !== "ObjectExpression" || field !== "arguments") return undefined;
  const callee = parent.callee as Syntax;
  const name = String(callee.name ?? (callee.property as Syntax | undefined)?.name);
  if (!DECLARING.has(name)) return undefined;
  for (const property of node.properties as Syntax[]) {
    if (!isSyntax(property.key)) continue;
    const mark = String(property.key.name);
    if (!MARKS.has(mark)) continue;
    if (mark === "only") return "only";
    if (!isReason(property.value)) return `${mark} without a reason`;
  }
  return undefined;
}

// A value computed at run time is taken to be a reason; `true` and "" are none.
function isReason(value: unknown): boolean {
  if (!isSyntax(value)) return false;
  if (value.type !== "Literal") return true;
  return typeof value.value === "string" && value.value.trim() !== "";
}
