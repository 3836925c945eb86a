// A plugin of the build for browsers: leaves out what the tables of calls and options say about
// themselves for OpenAPI, help texts and the reference. A page reads none of it, and it is a fifth
// of the client.

import { parseSync } from "oxc-parser";
import type { Plugin } from "rolldown";

// Properties, by the folder of the table.
const PROSE: readonly [folder: string, names: readonly string[]][] = [
  ["packages/protocol/src/calls/", ["says", "answer", "http", "may"]],
  ["packages/protocol/src/options/", ["text", "reckoned"]],
  ["packages/protocol/src/shapes/", ["description"]],
];

// Functions that add a sentence to a kind, by the place of the sentence among their arguments.
const TELLING: Readonly<Record<string, number>> = { told: 1, about: 0 };

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Node extends Span {
  readonly type: string;
  readonly [field: string]: unknown;
}

export const withoutProse: Plugin = {
  name: "without-prose",
  transform(code, id) {
    const names = PROSE.find(([folder]) => id.replaceAll("\\", "/").includes(folder))?.[1];
    return names === undefined ? undefined : cut(code, proseOf(id, code, names));
  },
};

function proseOf(id: string, code: string, names: readonly string[]): Span[] {
  const found: Span[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (typeof value !== "object" || value === null) return;
    const node = value as Node;
    if (isProse(node, names)) return void found.push(node);
    found.push(...telling(node));
    Object.values(node).forEach(visit);
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

// All of `told(KIND, "a sentence")` but `(KIND)`.
function telling({ type, start, end, callee, arguments: given }: Node): Span[] {
  if (type !== "CallExpression") return [];
  const { name = "", end: nameEnd } = callee as Span & { name?: string };
  const sentence = TELLING[name];
  if (sentence === undefined) return [];
  const kind = (given as Span[])[1 - sentence]!;
  return [
    { start, end: nameEnd },
    { start: nameEnd + 1, end: kind.start },
    { start: kind.end, end: end - 1 },
  ];
}

function cut(code: string, nodes: readonly Span[]): string {
  let rest = code;
  for (const { start, end } of nodes.toSorted((a, b) => b.start - a.start)) {
    const comma = /^\s*,/.exec(rest.slice(end))?.[0].length ?? 0;
    rest = rest.slice(0, start) + rest.slice(end + comma);
  }
  return rest;
}
