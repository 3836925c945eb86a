// The engine decides and touches nothing: the same calls give the same facts. So it has no clock,
// no chance, no input, no output and no waiting. Both ends share the protocol, and one end may be a
// browser. So it imports nothing either, except types of the engine.

import { importsOf, isSyntax, lineAt, parse, type Syntax, walk } from "../syntax.ts";
import { type Finding, isTest, isTypeScript, type SourceFile, type Tree } from "../tree.ts";

const ENGINE = "packages/engine/src/";
const PROTOCOL = "packages/protocol/src/";

const FORBIDDEN_GLOBALS = new Set([
  "setTimeout",
  "setInterval",
  "setImmediate",
  "queueMicrotask",
  "Date",
  "performance",
  "process",
  "Buffer",
  "Promise",
  "console",
  "crypto",
  "fetch",
  "globalThis",
  "require",
]);

export function purity(tree: Tree): Finding[] {
  const sources = tree.filter(
    (file) => isTypeScript(file) && !isTest(file) && !file.path.includes("/src/testing/"),
  );
  const engine = sources.filter(({ path }) => path.startsWith(ENGINE));
  const protocol = sources.filter(({ path }) => path.startsWith(PROTOCOL));
  return [
    ...[...engine, ...protocol].flatMap(checkImports),
    ...engine.flatMap((file) => checkSyntax(file)),
  ];
}

function checkImports(file: SourceFile): Finding[] {
  return importsOf(file)
    .filter(({ specifier, isType }) => {
      const isOfEngine = file.path.startsWith(PROTOCOL) && specifier === "@sluice/engine";
      return !specifier.startsWith(".") && !(isType && isOfEngine);
    })
    .map(({ specifier, offset }) => ({
      path: file.path,
      line: lineAt(file.text, offset),
      message: `may not import ${specifier}: this package stands on nothing`,
    }));
}

function checkSyntax(file: SourceFile): Finding[] {
  const findings: Finding[] = [];
  walk(parse(file).root, (node, parent, field) => {
    const name = forbiddenName(node, parent, field);
    if (name === undefined) return;
    const line = lineAt(file.text, node.start);
    findings.push({ path: file.path, line, message: `${name} has no place in the engine` });
  });
  return findings;
}

function forbiddenName(node: Syntax, parent: Syntax, field: string): string | undefined {
  if (node.type === "AwaitExpression") return "await";
  if (node.type === "ForOfStatement" && node.await === true) return "for await";
  if (node.async === true) return "an async function";
  if (node.type === "ImportExpression") return "import()";
  if (isMathRandom(node)) return "Math.random";
  if (node.type !== "Identifier" || isPropertyName(parent, field)) return undefined;
  const name = String(node.name);
  return FORBIDDEN_GLOBALS.has(name) ? name : undefined;
}

function isMathRandom(node: Syntax): boolean {
  if (node.type !== "MemberExpression") return false;
  const { object, property } = node;
  if (!isSyntax(object) || object.name !== "Math" || !isSyntax(property)) return false;
  return property.name === "random" || property.value === "random";
}

// `job.process` and `{ process: 1 }` name a property and not the global.
function isPropertyName(parent: Syntax, field: string): boolean {
  if (parent.computed === true) return false;
  return field === "property" || (field === "key" && parent.shorthand !== true);
}
