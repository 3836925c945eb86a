// The long run before a release: every random check at the size that a test run has no time for. It
// continues after a failure, and lists the failed rows at the end.
//
//   cluster ...   these rows alone
//   --seed N      of the row `cluster`, which continues an interrupted run of this seed
//   --share N     that part of each row, 0.01 for a trial of the run itself (default 1)

import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { dirname } from "node:path";
import { parseArgs } from "node:util";

interface Row {
  readonly name: string;
  readonly size: number;
  // The arguments for Node, and what the environment adds, at a size.
  command(size: number): { args: readonly string[]; env?: Record<string, string> };
}

const root = dirname(import.meta.dirname);
const SIM = "packages/sim/src";
const DAY_MS = 86_400_000;
// Other worlds every day, far from those of the test run.
const start = Math.floor(Date.now() / DAY_MS) * 1_000_000;

const tests = (variable: string, ...files: string[]): Row["command"] => {
  return (size) => ({ args: ["--test", ...files], env: { [variable]: String(size) } });
};
const program = (file: string, option: string, ...rest: string[]): Row["command"] => {
  return (size) => ({ args: [`${SIM}/${file}`, option, String(size), ...rest] });
};

const worlds = (kind: string, ...rest: string[]): Row["command"] =>
  program("main.ts", "--count", "--start", String(start), ...rest, kind);
const ROWS: readonly Row[] = [
  { name: "hours", size: 20_000, command: worlds("faults", "--hours", "1") },
  { name: "weeks", size: 100, command: worlds("faults", "--hours", "168") },
  { name: "worlds", size: 500_000, command: worlds("worlds") },
  { name: "broker", size: 20_000, command: worlds("faults") },
  { name: "streams", size: 5_000, command: worlds("streams") },
  { name: "cluster-worlds", size: 5_000, command: worlds("cluster") },
  {
    name: "cluster",
    size: 300,
    command: (size) => ({
      args: [
        "packages/cli/src/testing/faults/soak/main.ts",
        "--count",
        String(size),
        ...seedWords(),
      ],
    }),
  },
  {
    name: "cluster-suite",
    size: 1,
    command: () => ({
      args: ["--test", "packages/cli/src/e2e/cluster-conformance.e2e.test.ts"],
      env: { CONFORMANCE: "all" },
    }),
  },
  {
    name: "postgres",
    size: 20_000,
    command: tests("POSTGRES_TRANSACTIONS", "packages/cli/src/e2e/outbox.e2e.test.ts"),
  },
  { name: "shared-gates", size: 5_000, command: worlds("shared") },
  { name: "kill", size: 5_000, command: program("crash/main.ts", "--cycles") },
  {
    name: "power-loss",
    size: 10_000,
    command: tests("POWER_LOSS_IMAGES", `${SIM}/log-faults/power-loss.crash.test.ts`),
  },
  {
    name: "io-errors",
    size: 2_000,
    command: tests("IO_ERROR_RUNS", `${SIM}/log-faults/io-errors.crash.test.ts`),
  },
  {
    name: "damage",
    size: 20_000,
    command: tests("DAMAGED_FILES", `${SIM}/log-faults/damage.crash.test.ts`),
  },
  {
    name: "conformance",
    size: 1,
    command: () => ({
      args: ["--test", ...globSync("packages/*/src/**/conformance{.test.ts,/*.test.ts}")],
      env: { CONFORMANCE: "all" },
    }),
  },
  {
    name: "fuzzing",
    size: 2_000_000,
    command: tests("FUZZ_INPUTS", ...globSync("{packages,apps}/*/src/**/*.fuzz.test.ts")),
  },
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: "string" }, share: { type: "string", default: "1" } },
});
const share = Number(values.share);
const unknown = positionals.find((name) => !ROWS.some((row) => row.name === name));
const rows = ROWS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
if (!(share > 0 && share <= 1)) {
  console.error(`--share must be above 0 and at most 1, got ${values.share}`);
  process.exitCode = 2;
} else if (unknown !== undefined) {
  const known = ROWS.map(({ name }) => name).join(", ");
  console.error(`a row must be one of ${known}, got ${unknown}`);
  process.exitCode = 2;
} else {
  const broken = rows.filter((row) => !run(row));
  for (const { name } of broken) console.log(`${name} broke`);
  console.log(`${rows.length - broken.length} rows held, ${broken.length} broke`);
  process.exitCode = broken.length > 0 ? 1 : 0;
}

function seedWords(): string[] {
  return values.seed === undefined ? [] : ["--seed", values.seed];
}

function run({ name, size, command }: Row): boolean {
  const count = Math.max(1, Math.round(size * share));
  const { args, env } = command(count);
  console.log(`\n${name}: ${count}`);
  const { status } = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  return status === 0;
}
