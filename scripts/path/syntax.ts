// Functions in a source, and a source that notes each call of one of them.

import { parseSync } from "oxc-parser";

export interface Syntax {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

export function noting(path: string, text: string): string {
  const insertions: { at: number; text: string }[] = [];
  visit(parseSync(path, text).program as unknown as Syntax, (node) => {
    const { body, expression } = node as { body?: Syntax | null; expression?: boolean };
    if (!FUNCTIONS.has(node.type) || body === null || body === undefined) return;
    if (expression === true) {
      insertions.push({ at: body.start, text: "(noteStack()," }, { at: body.end, text: ")" });
    } else insertions.push({ at: body.start + 1, text: "noteStack();" });
  });
  // The last first, so that the places of the others stay true; one that ends before one begins.
  const ordered = insertions.map((insertion, order) => ({ ...insertion, order }));
  ordered.sort((a, b) => b.at - a.at || b.order - a.order);
  return ordered.reduce(
    (made, { at, text: put }) => made.slice(0, at) + put + made.slice(at),
    text,
  );
}

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

export function visit(node: Syntax, act: (node: Syntax) => void): void {
  act(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type === "string") visit(child, act);
    }
  }
}
