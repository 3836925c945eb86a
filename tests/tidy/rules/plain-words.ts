// Words that make a sentence sound translated. People meet our sentences in errors, help texts and
// pages first, so texts of the product and documents have none of them.

import { lineAt, parse, walk } from "../syntax.ts";
import { type Finding, isTest, isTypeScript, type SourceFile, type Tree } from "../tree.ts";

const WORDS = /\b(?:nobody|whoever|somebody|(?:is|are) told|anew|for ever|inside of)\b/i;

const MESSAGE = "sounds translated: say who does what, as CONTRIBUTING.md asks";

// What only developers read.
const EXEMPT =
  /^(?:tests\/|bench\/|packages\/sim\/)|\/(?:testing|e2e|conformance)\/|conformance\.ts$/;

export function plainWords(tree: Tree): Finding[] {
  return tree.filter(({ path }) => !EXEMPT.test(path)).flatMap(checkFile);
}

function checkFile(file: SourceFile): Finding[] {
  if (file.path.endsWith(".md")) return checkText(file.path, file.text);
  return isTypeScript(file) && !isTest(file) ? checkStrings(file) : [];
}

function checkText(path: string, text: string): Finding[] {
  return text.split("\n").flatMap((line, index) => {
    const word = WORDS.exec(line)?.[0];
    return word === undefined ? [] : [{ path, line: index + 1, message: `"${word}" ${MESSAGE}` }];
  });
}

function checkStrings(file: SourceFile): Finding[] {
  const found: Finding[] = [];
  walk(parse(file).root, (node) => {
    const text = textOf(node);
    const word = text === undefined ? undefined : WORDS.exec(text)?.[0];
    if (word === undefined) return;
    const line = lineAt(file.text, node.start);
    found.push({ path: file.path, line, message: `"${word}" ${MESSAGE}` });
  });
  return found;
}

function textOf({ type, value }: { type: string; [field: string]: unknown }): string | undefined {
  if (type === "Literal" && typeof value === "string") return value;
  if (type === "TemplateElement") return (value as { cooked: string }).cooked;
  return type === "JSXText" ? String(value) : undefined;
}
