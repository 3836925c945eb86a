// Lines of prose in pages. Tables, code and headings may be longer.

import type { Finding, SourceFile, Tree } from "../tree.ts";

const COLUMNS_MAX = 140;

// Written by commands, and read as pages.
const MADE = /^docs\/(?:reference\/|benchmarks\.md$)/;
const WHOLE = /^\s*(?:\||#|<|!\[|>|---)/;

export function pageColumns(tree: Tree): Finding[] {
  return tree.filter(({ path }) => path.endsWith(".md") && !MADE.test(path)).flatMap(checkFile);
}

function checkFile({ path, text }: SourceFile): Finding[] {
  const found: Finding[] = [];
  let isCode = false;
  let isHead = text.startsWith("---\n");
  for (const [index, line] of text.split("\n").entries()) {
    if (isHead) isHead = index === 0 || line !== "---";
    else if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    else if (!isCode && !WHOLE.test(line) && isBreakable(line)) {
      found.push({ path, line: index + 1, message: `over ${COLUMNS_MAX} columns: break it` });
    }
  }
  return found;
}

function isBreakable(line: string): boolean {
  return [...line].length > COLUMNS_MAX && line.trim().lastIndexOf(" ", COLUMNS_MAX) > 0;
}
