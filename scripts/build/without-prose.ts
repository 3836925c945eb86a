// A plugin of the build for browsers: leaves out what the tables of calls and options say about
// themselves for OpenAPI, help texts and the reference. A page reads none of it, and it is a fifth
// of the client.

import { parseSync } from "oxc-parser";
import type { Plugin } from "rolldown";

// By the folder of the table.
const PROSE: readonly [folder: string, names: readonly string[]][] = [
  ["packages/protocol/src/calls/", ["says", "answer", "http", "may"]],
  ["packages/protocol/src/options/", ["text", "reckoned"]],
];

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export const withoutProse: Plugin = {
  name: "without-prose",
  transform(code, id) {
    const names = PROSE.find(([folder]) => id.replaceAll("\\", "/").includes(folder))?.[1];
    return names === undefined ? undefined : cut(code, propertiesOf(id, code, names));
  },
};

function propertiesOf(id: string, code: string, names: readonly string[]): Node[] {
  const found: Node[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (typeof value !== "object" || value === null) return;
    const node = value as Node;
    if (isProse(node, names)) found.push(node);
    else Object.values(node).forEach(visit);
  };
  visit(parseSync(id, code).program);
  return found;
}

// Written out as `name: value` in an object that is made, not taken apart.
function isProse(node: Node, names: readonly string[]): boolean {
  if (node.type !== "Property" || node.method === true || node.shorthand === true) return false;
  const { key, value } = node as unknown as { key: { name?: string }; value: Node };
  const isData = ["Literal", "BinaryExpression", "TemplateLiteral", "ObjectExpression"];
  const isShape = ["MemberExpression", "Identifier", "CallExpression"];
  return names.includes(key.name ?? "") && [...isData, ...isShape].includes(value.type);
}

function cut(code: string, nodes: readonly Node[]): string {
  let rest = code;
  for (const { start, end } of nodes.toSorted((a, b) => b.start - a.start)) {
    const comma = /^\s*,/.exec(rest.slice(end))?.[0].length ?? 0;
    rest = rest.slice(0, start) + rest.slice(end + comma);
  }
  return rest;
}
