// Reads TypeScript into a syntax tree. The compiler we check types with has no interface for
// programs, so the parser is a separate one.

import { parseSync } from "oxc-parser";
import type { SourceFile } from "./tree.ts";

export interface Syntax {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export interface Parsed {
  readonly root: Syntax;
  readonly comments: readonly { readonly start: number; readonly end: number }[];
}

const parsed = new WeakMap<SourceFile, Parsed>();

export function parse(file: SourceFile): Parsed {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const { program, comments, errors } = parseSync(file.path, file.text);
  if (errors.length > 0) throw new Error(`${file.path} does not parse: ${errors[0]?.message}`);
  const result = { root: program as unknown as Syntax, comments };
  parsed.set(file, result);
  return result;
}

export type Visit = (node: Syntax, parent: Syntax, field: string) => void;

// Calls `visit` for every node below `node`, parents before children.
export function walk(node: Syntax, visit: Visit): void {
  for (const field in node) {
    const value = node[field];
    if (typeof value !== "object" || value === null) continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (!isSyntax(child)) continue;
      visit(child, node, field);
      walk(child, visit);
    }
  }
}

export function isSyntax(value: unknown): value is Syntax {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

// The line of an offset, from 1.
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) {
    line += 1;
  }
  return line;
}

export interface Import {
  readonly specifier: string;
  readonly offset: number;
  /** Types alone: nothing is left of it when the program runs. */
  readonly isType: boolean;
}

const IMPORTING = new Set([
  "ImportDeclaration",
  "ExportNamedDeclaration",
  "ExportAllDeclaration",
  "ImportExpression",
  "TSImportType",
]);

const imported = new WeakMap<SourceFile, Import[]>();

// Everything a file imports: `import`, `export from`, `import()` and types of another file.
export function importsOf(file: SourceFile): readonly Import[] {
  const known = imported.get(file);
  if (known !== undefined) return known;
  const imports: Import[] = [];
  imported.set(file, imports);
  walk(parse(file).root, (node) => {
    if (!IMPORTING.has(node.type)) return;
    const source = node.source ?? node.argument;
    if (!isSyntax(source)) return;
    const literal = isSyntax(source.literal) ? source.literal : source;
    if (typeof literal.value === "string") {
      imports.push({ specifier: literal.value, offset: node.start, isType: isType(node) });
    }
  });
  return imports;
}

function isType(node: Syntax): boolean {
  return node.type === "TSImportType" || node.importKind === "type" || node.exportKind === "type";
}
