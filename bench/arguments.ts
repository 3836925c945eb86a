// What `npm run bench -- ...` asks for.
//
//   (nothing)       every benchmark
//   engine          the named benchmarks
//   --json          one object a line instead of a table
//   --quick         sizes divided by 10, 3 runs
//   --only <part>   only the groups whose name contains this

import { type Bench, FULL, type Group, QUICK, type Scale } from "./figure.ts";

export interface Plan {
  readonly groups: readonly { readonly bench: string; readonly group: Group }[];
  readonly scale: Scale;
  readonly isJson: boolean;
}

export class UsageError extends Error {}

export function parseArguments(args: readonly string[], benches: readonly Bench[]): Plan {
  const names: string[] = [];
  let only = "";
  let scale = FULL;
  let isJson = false;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (arg === "--json") isJson = true;
    else if (arg === "--quick") scale = QUICK;
    else if (arg === "--only") only = args[++i] ?? "";
    else if (!arg.startsWith("-")) names.push(arg);
    else throw new UsageError(`There is no option ${arg}; there are --json, --quick, --only.`);
  }
  const wanted = names.length === 0 ? benches : names.map((name) => benchNamed(name, benches));
  return { groups: groupsOf(wanted, only), scale, isJson };
}

function benchNamed(name: string, benches: readonly Bench[]): Bench {
  const bench = benches.find((candidate) => candidate.name === name);
  if (bench !== undefined) return bench;
  throw new UsageError(
    `There is no benchmark "${name}"; there are: ${benches.map((b) => b.name).join(", ")}.`,
  );
}

function groupsOf(benches: readonly Bench[], only: string): Plan["groups"] {
  const all = benches.flatMap((bench) =>
    bench.groups.map((group) => ({ bench: bench.name, group })),
  );
  const wanted = all.filter(({ group }) => group.name.includes(only));
  if (wanted.length > 0) return wanted;
  throw new UsageError(
    `No group is called "${only}"; there are: ${all.map(({ group }) => group.name).join(", ")}.`,
  );
}
