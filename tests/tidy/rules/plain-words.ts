// Words that make a sentence sound translated, in every sentence of the tree: texts of the product,
// documents, comments and the names of tests.

import { lineAt, parse, walk } from "../syntax.ts";
import { type Finding, isTypeScript, type SourceFile, type Tree } from "../tree.ts";

const WORDS =
  /\b(?:nobody|whoever|somebody|(?:is|are|was|were|be|been|being) told|anew|for ever|inside of|goes on)\b/i;

const MESSAGE = "sounds translated: say who does what, as CONTRIBUTING.md asks";

// The rule and its tests must spell what they forbid.
const EXEMPT = /^tests\/tidy\//;
const PROSE = /\.(?:md|ya?ml|sh|lua|py|css|html)$|(?:^|\/)package\.json$/;

export function plainWords(tree: Tree): Finding[] {
  return tree.filter(({ path }) => !EXEMPT.test(path)).flatMap(checkFile);
}

function checkFile(file: SourceFile): Finding[] {
  if (PROSE.test(file.path)) return checkText(file.path, file.text, 1);
  return isTypeScript(file) ? checkSource(file) : [];
}

function checkText(path: string, text: string, from: number): Finding[] {
  return text.split("\n").flatMap((line, index) => {
    const word = WORDS.exec(line)?.[0];
    return word === undefined
      ? []
      : [{ path, line: from + index, message: `"${word}" ${MESSAGE}` }];
  });
}

function checkSource(file: SourceFile): Finding[] {
  const { root, comments } = parse(file);
  const found = comments.flatMap(({ start, end }) =>
    checkText(file.path, file.text.slice(start, end), lineAt(file.text, start)),
  );
  walk(root, (node) => {
    const text = textOf(node);
    // One word alone is a name, such as that of a user of the system.
    if (text === undefined || !text.includes(" ")) return;
    found.push(...checkText(file.path, text.replaceAll("\n", " "), lineAt(file.text, node.start)));
  });
  return found;
}

function textOf({ type, value }: { type: string; [field: string]: unknown }): string | undefined {
  if (type === "Literal" && typeof value === "string") return value;
  if (type === "TemplateElement") return (value as { cooked: string }).cooked;
  return type === "JSXText" ? String(value) : undefined;
}
