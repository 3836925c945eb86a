// Two or more trees of this repository beside each other, in turns: does a change cost anything?
// Processor time for a job is what to judge by: other work on the machine hardly changes it.
//
//   npm run bench:against -- [--rounds 5] [--only stream-bulk,http-100] before=../clone after=.

import { execFileSync } from "node:child_process";
import { loadavg } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { rounded, spreadOf } from "../spread.ts";

const PROGRAM = join(import.meta.dirname, "measure.ts");
const TIMEOUT_MS = 600_000;

// The work, then how it is done; the rates of `half` are jobs a second.
const CASES = [
  ...["stream-bulk", "stream-1000", "stream-64", "stream-1", "stream-half-30000"],
  ...["http-1", "http-100"],
  ...["embedded-bulk-fsync", "embedded-json-fsync", "embedded-bulk-memory"],
  ...["embedded-1000-os", "embedded-64-os", "embedded-1000-fsync", "embedded-64-memory"],
  ...["engine-plain-10", "engine-plain-10000", "engine-facts-10", "engine-facts-100000"],
];

interface Tree {
  readonly name: string;
  readonly path: string;
}

// Values of each figure, by case, figure and tree.
type Seen = Map<string, Map<string, Map<string, number[]>>>;

const { values, positionals } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    only: { type: "string" },
    help: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const trees: Tree[] = positionals.map((text) => {
  const [name = "", path = ""] = text.split("=");
  return { name, path: resolve(path) };
});
const cases = values.only?.split(",") ?? CASES;
if (values.help || trees.length < 2 || cases.some((name) => name === "")) {
  const print = values.help ? console.log : console.error;
  print("usage: npm run bench:against -- [--rounds 5] [--only CASE,...] NAME=TREE NAME=TREE");
  print(`cases: ${CASES.join(", ")}`);
  process.exit(values.help ? 0 : 2);
}
const seen: Seen = new Map();
for (let round = 0; round < Number(values.rounds); round++) {
  for (const name of cases) {
    // Each is first in every other round.
    for (const tree of round % 2 === 0 ? trees : trees.toReversed()) measure(name, tree);
  }
}
print();

function measure(name: string, tree: Tree): void {
  const args = ["--expose-gc", PROGRAM, tree.path, name];
  const text = execFileSync(process.execPath, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    timeout: TIMEOUT_MS,
  });
  const figures = of(seen, name, () => new Map<string, Map<string, number[]>>());
  for (const [figure, value] of Object.entries<number>(JSON.parse(text))) {
    const byTree = of(figures, figure, () => new Map<string, number[]>());
    of(byTree, tree.name, (): number[] => []).push(value);
  }
}

function of<V>(map: Map<string, V>, key: string, make: () => V): V {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}

function print(): void {
  console.log(`Median (least to most) of ${values.rounds}; load ${loadavg()[0]!.toFixed(1)}.`);
  const names = trees.map(({ name }) => name);
  console.log(`\n| case | figure | ${names.join(" | ")} | last ÷ first |`);
  console.log(`|---|---|${names.map(() => "---|").join("")}---|`);
  for (const [name, figures] of seen) {
    for (const [figure, byTree] of figures) {
      const spreads = names.map((tree) => spreadOf(byTree.get(tree)!));
      const cells = spreads.map(
        ({ median, min, max }) => `${rounded(median)} (${rounded(min)} to ${rounded(max)})`,
      );
      const ratio = spreads.at(-1)!.median / spreads[0]!.median;
      console.log(`| ${name} | ${figure} | ${cells.join(" | ")} | ${ratio.toFixed(2)} |`);
    }
  }
}
