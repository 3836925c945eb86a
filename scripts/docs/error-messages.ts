// Finds every error message in the sources and fills it with sample values, so that all of them can
// be read on one page.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ERROR_CODES } from "@sluice/protocol";
import { parseSync, Visitor } from "oxc-parser";

export interface Message {
  readonly code: string;
  readonly text: string;
}

const CODES = new Set<string>(ERROR_CODES);
/** Parts whose errors users do not meet. */
const LEFT_OUT = /(\.test\.ts$|\/testing\/|\/conformance\/|\/node_modules\/|packages\/sim\/)/;

export function errorMessages(root: string): Message[] {
  const files = globSync("packages/*/src/**/*.ts", { cwd: root })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !LEFT_OUT.test(path));
  const found = files.flatMap((path) => messagesIn(path, readFileSync(join(root, path), "utf8")));
  const byText = new Map(found.map((message) => [`${message.code} ${message.text}`, message]));
  return [...byText.values()].sort(({ text: a }, { text: b }) => (a < b ? -1 : 1));
}

/** What is read of a node of the syntax tree. */
interface Syntax {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** Wherever a code of the catalogue is an argument and the one after it is a text. */
function messagesIn(path: string, text: string): Message[] {
  const messages: Message[] = [];
  const constants = new Map<string, Syntax>();
  const look = (node: object): void => {
    const [first, second] = (node as { arguments: Syntax[] }).arguments;
    const code = first?.type === "Literal" ? String(first.value) : "";
    if (!CODES.has(code) || second === undefined) return;
    for (const rendered of render(second, text, constants)) messages.push({ code, text: rendered });
  };
  new Visitor({
    VariableDeclarator: (node) => noteConstant(constants, node as unknown as Syntax),
    NewExpression: look,
    CallExpression: look,
  }).visit(parseSync(path, text).program);
  return messages;
}

/** A message is often a constant just above its error: the last one of that name counts. */
function noteConstant(constants: Map<string, Syntax>, { id, init }: Syntax): void {
  const { type, name } = id as Syntax;
  if (type === "Identifier" && init !== null) constants.set(String(name), init as Syntax);
}

/** Every text that an expression can have; none for a message that is made elsewhere. */
function render(node: Syntax, source: string, constants: Map<string, Syntax>): string[] {
  const all = (part: unknown) => render(part as Syntax, source, constants);
  if (node.type === "Literal") return typeof node.value === "string" ? [node.value] : [];
  if (node.type === "ConditionalExpression") {
    return [...all(node.consequent), ...all(node.alternate)];
  }
  if (node.type === "BinaryExpression" && node.operator === "+") {
    return all(node.left).flatMap((left) => all(node.right).map((right) => left + right));
  }
  if (node.type === "Identifier") {
    const value = constants.get(String(node.name));
    return value === undefined || value.type === "Identifier" ? [] : all(value);
  }
  return node.type === "TemplateLiteral" ? [fill(node, source)] : [];
}

function fill(node: Syntax, source: string): string {
  const quasis = node.quasis as { value: { cooked: string } }[];
  const expressions = node.expressions as Syntax[];
  return quasis
    .map(({ value }, index) => {
      const expression = expressions[index];
      return value.cooked + (expression === undefined ? "" : sampleOf(expression, source));
    })
    .join("");
}

/** A value such as the expression has; what is not in the list is shown by its name. */
function sampleOf({ start, end }: Syntax, source: string): string {
  const name = (/(\w+)\W*$/.exec(source.slice(start, end))?.[1] ?? "value").toLowerCase();
  return SAMPLES[name] ?? `‹${name}›`;
}

const SAMPLES: Readonly<Record<string, string>> = {
  queue: "mail",
  name: "mail",
  id: "c7qa",
  job: "c7qa",
  gate: "smtp",
  key: "smtp",
  path: "./data",
  dir: "./data",
  file: "./data/0000001.log",
  offset: "4096",
  position: "4096",
  address: "http://127.0.0.1:7070",
  url: "http://127.0.0.1:7070",
  host: "127.0.0.1",
  port: "7070",
  method: "GET",
  status: "404",
  max: "1000",
  min: "1",
  limit: "1000",
  count: "3",
  length: "3",
  size: "3",
  bytes: "1048577",
  partition: "4",
  node: "a",
  stream: "sluice-4",
  server: "nats://10.0.0.1",
  servers: "nats://10.0.0.1",
  version: "3",
  timeout: "10000",
  ms: "10000",
  delayms: "10000",
  timeoutms: "10000",
  field: "priority",
  value: "7",
  pid: "4711",
  reason: "connection refused",
  message: "connection refused",
  why: "connection refused",
  code: "ECONNREFUSED",
  option: "priority",
  flag: "--port",
  group: "mail/order-7",
  schedule: "nightly",
  state: "finished",
  operation: "add mail",
};
