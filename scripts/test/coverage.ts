// Branch and line coverage of one package, read from what V8 left behind in the test processes.
//
// Collected by V8 during the ordinary run (NODE_V8_COVERAGE), so it costs no second run. Only the
// processes that loaded a test file of the package count: a broker test that happens to pass
// through the engine proves nothing about the engine. Node blanks types out in place, so the
// offsets that V8 reports are offsets in the source.
//
// A branch is a block that V8 counts on its own: a function, an arm, a loop body, the code after an
// early exit. V8 leaves a block out where it ran as often as the code around it, so each process
// is painted into an array of counts per character first and the arrays are added up.

import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseSync } from "oxc-parser";

export interface CoverageRequest {
  readonly root: string;
  // The folder of the package, relative to the root.
  readonly folder: string;
  readonly coverageDir: string;
}

export interface Coverage {
  readonly lines: Ratio;
  readonly branches: Ratio;
  // Where code never ran, as `path:line`.
  readonly missed: readonly string[];
}

export interface Ratio {
  readonly covered: number;
  readonly total: number;
}

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface Script {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly Range[] }[];
}

export function readCoverage({ root, folder, coverageDir }: CoverageRequest): Coverage {
  const scripts = readScripts(coverageDir, pathToFileURL(join(root, folder)).href);
  const paths = globSync(`${folder}/src/**/*.ts`, { cwd: root }).sort();
  const parts = paths
    .filter((path) => !path.endsWith(".test.ts") && !path.includes("/properties/"))
    .map((path) => measureFile(root, path, scripts.get(pathToFileURL(join(root, path)).href)));
  return {
    lines: sum(parts.map((part) => part.lines)),
    branches: sum(parts.map((part) => part.branches)),
    missed: parts.flatMap((part) => part.missed),
  };
}

// The scripts of all processes that ran a test of the package, by address.
function readScripts(coverageDir: string, folderUrl: string): Map<string, Script[]> {
  const byUrl = new Map<string, Script[]>();
  for (const name of readdirSync(coverageDir)) {
    const { result }: { result: Script[] } = JSON.parse(
      readFileSync(join(coverageDir, name), "utf8"),
    );
    const isOfPackage = ({ url }: Script): boolean => url.startsWith(`${folderUrl}/`);
    if (!result.some((script) => isOfPackage(script) && script.url.endsWith(".test.ts"))) continue;
    for (const script of result.filter(isOfPackage)) {
      const others = byUrl.get(script.url);
      if (others === undefined) byUrl.set(script.url, [script]);
      else others.push(script);
    }
  }
  return byUrl;
}

function measureFile(root: string, path: string, scripts: readonly Script[] = []): Coverage {
  const source = readFileSync(join(root, path), "utf8");
  return measure(path, onlyCode(path, source), scripts);
}

// `code` is the source with types and comments blanked out, every character in its place.
export function measure(path: string, code: string, scripts: readonly Script[]): Coverage {
  const counts = new Float64Array(code.length);
  const blocks = new Map<string, number>();
  for (const script of scripts) paint(script, counts, blocks);
  const lines = measureLines(code, counts);
  // A file of types alone has no code; a file with code that nothing loaded is one missed branch.
  if (lines.total > 0 && scripts.length === 0) blocks.set("whole file", code.search(/\S/));
  const starts = [...blocks.values()];
  const missedStarts = starts.filter((start) => !((counts[start] ?? 0) > 0));
  return {
    lines,
    branches: { covered: starts.length - missedStarts.length, total: starts.length },
    missed: missedStarts.map((start) => `${path}:${code.slice(0, start).split("\n").length}`),
  };
}

function paint(script: Script, counts: Float64Array, blocks: Map<string, number>): void {
  const ranges = script.functions.flatMap((fn) => fn.ranges);
  // Outer ranges first, so that inner ones paint over them.
  ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  const painted = new Float64Array(counts.length);
  for (const { startOffset, endOffset, count } of ranges) {
    painted.fill(count, startOffset, endOffset);
    blocks.set(`${startOffset}-${endOffset}`, startOffset);
  }
  for (let at = 0; at < counts.length; at++) counts[at]! += painted[at]!;
}

function measureLines(code: string, counts: Float64Array): Ratio {
  let covered = 0;
  let total = 0;
  let at = 0;
  for (const line of code.split("\n")) {
    if (/[^\s{}()[\];,]/.test(line)) {
      total += 1;
      if (counts.subarray(at, at + line.length).some((count) => count > 0)) covered += 1;
    }
    at += line.length + 1;
  }
  return { covered, total };
}

const TYPE_STATEMENTS = new Set(["TSInterfaceDeclaration", "TSTypeAliasDeclaration"]);

// The source as it counts: comments and statements that are types alone are blanked out.
export function onlyCode(path: string, source: string): string {
  const { program, comments } = parseSync(path, source);
  let code = source;
  for (const { start, end } of [...comments, ...program.body.filter(isTypeStatement)]) {
    const blank = source.slice(start, end).replace(/[^\n]/g, " ");
    code = code.slice(0, start) + blank + code.slice(end);
  }
  return code;
}

type Statement = ReturnType<typeof parseSync>["program"]["body"][number];

function isTypeStatement(node: Statement): boolean {
  if ("declare" in node && node.declare) return true;
  if ("importKind" in node && node.importKind === "type") return true;
  if ("exportKind" in node && node.exportKind === "type") return true;
  return TYPE_STATEMENTS.has(node.type);
}

function sum(ratios: readonly Ratio[]): Ratio {
  return ratios.reduce(
    (all, one) => ({ covered: all.covered + one.covered, total: all.total + one.total }),
    { covered: 0, total: 0 },
  );
}
