// What `npm run bench -- ...` asks for.

import { type Bench, type Group, SCALES, type Scale } from "./figure.ts";

export interface Plan {
  readonly groups: readonly { readonly bench: string; readonly group: Group }[];
  readonly scale: Scale;
  readonly isJson: boolean;
  // No group of the benchmarks is left out.
  readonly isWhole: boolean;
  readonly writesDocs: boolean;
}

const HELP = `npm run bench -- [names] [options]

  (nothing)       every benchmark but those that must be named
  engine ...      the named benchmarks
  --json          one object a line instead of a table
  --quick         sizes divided by 10, 3 runs
  --full          the largest sizes; continues where an interrupted one was (peers)
  --only <part>   the group of this name, or those whose name contains it
  --write-docs    writes the benchmark's page in docs (peers)`;

export class BenchUsageError extends Error {}
export class HelpWanted extends BenchUsageError {}

export function parseArguments(args: readonly string[], benches: readonly Bench[]): Plan {
  const names: string[] = [];
  let only = "";
  let scale: Scale = SCALES.usual;
  let isJson = false;
  let writesDocs = false;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (arg === "--json") isJson = true;
    else if (arg === "--quick") scale = other(scale, SCALES.quick);
    else if (arg === "--full") scale = other(scale, SCALES.full);
    else if (arg === "--write-docs") writesDocs = true;
    else if (arg === "--only") only = wordAfter(args, i++);
    else if (arg === "--help") throw new HelpWanted(HELP);
    else if (!arg.startsWith("-")) names.push(arg);
    else throw new BenchUsageError(`There is no option ${arg}; there are ${OPTIONS}.`);
  }
  if (writesDocs && only !== "") {
    throw new BenchUsageError("--write-docs needs all groups, and --only leaves some out.");
  }
  const wanted =
    names.length === 0
      ? benches.filter(({ isOnlyNamed }) => isOnlyNamed !== true)
      : names.map((name) => benchNamed(name, benches));
  return { groups: groupsOf(wanted, only), scale, isJson, isWhole: only === "", writesDocs };
}

const OPTIONS = "--json, --quick, --full, --only, --write-docs, --help";

function other(before: Scale, scale: Scale): Scale {
  if (before === SCALES.usual || before === scale) return scale;
  throw new BenchUsageError("--quick and --full exclude each other.");
}

function wordAfter(args: readonly string[], index: number): string {
  const word = args[index + 1];
  if (word !== undefined && word !== "" && !word.startsWith("-")) return word;
  throw new BenchUsageError("--only needs a part of a group's name.");
}

function benchNamed(name: string, benches: readonly Bench[]): Bench {
  const bench = benches.find((candidate) => candidate.name === name);
  if (bench !== undefined) return bench;
  throw new BenchUsageError(
    `There is no benchmark "${name}"; there are: ${benches.map((b) => b.name).join(", ")}.`,
  );
}

function groupsOf(benches: readonly Bench[], only: string): Plan["groups"] {
  const all = benches.flatMap((bench) =>
    bench.groups.map((group) => ({ bench: bench.name, group })),
  );
  const exact = all.filter(({ group }) => group.name === only);
  const wanted = all.filter(({ group }) => group.name.includes(only));
  if (exact.length > 0) return exact;
  if (wanted.length > 0) return wanted;
  throw new BenchUsageError(
    `No group is called "${only}"; there are: ${all.map(({ group }) => group.name).join(", ")}.`,
  );
}
