// The figures. A benchmark is not a test: what falls short of its target is shown and fails
// nothing; only a measurement that could not be made does.

import { availableParallelism, cpus, loadavg } from "node:os";
import { BenchUsageError, HelpWanted, type Plan, parseArguments } from "./arguments.ts";
import { BENCHES } from "./benches.ts";
import { endChild, runInChild } from "./child.ts";
import type { Figure } from "./figure.ts";
import { tableOf } from "./table.ts";

const EXIT_BY_SIGNAL = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

// On a signal, the process exits when all of its children have ended.
function endWithChildren(): void {
  for (const [signal, code] of Object.entries(EXIT_BY_SIGNAL)) {
    process.once(signal, async () => {
      await endChild();
      process.exit(code);
    });
  }
}

const BAR_CELLS = 24;

function showProgress(text: string): void {
  const width = process.stderr.columns ?? 80;
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text.slice(0, width - 1)}`);
}

function barOf(share: number): string {
  const full = Math.round(share * BAR_CELLS);
  return `${"█".repeat(full)}${"░".repeat(BAR_CELLS - full)} ${Math.floor(share * 100)} %`;
}

function printJson(bench: string, { metric, value, unit, conditions }: Figure): void {
  showProgress("");
  console.log(JSON.stringify({ bench, metric, value, unit, conditions }));
}

function printTable(figures: readonly Figure[], { scale }: Plan): void {
  const machine = `${cpus()[0]?.model ?? "unknown processor"}, ${availableParallelism()} cores`;
  console.log(`Node ${process.version}, ${machine}`);
  if (scale.isQuick)
    console.log(`Quick: small sizes, ${scale.runs} runs; targets are of full size.`);
  console.log(`\n${tableOf(figures)}`);
}

// Says of each figure what all of them share.
function complete(figure: Figure, { scale }: Plan): Figure {
  const quick = scale.isQuick ? { quick: "small sizes, 3 runs" } : {};
  // A machine that is busy with other things measures those too.
  const machineLoad = Number(loadavg()[0]!.toFixed(1));
  const conditions = { ...figure.conditions, ...quick, machineLoad, node: process.version };
  return { ...figure, conditions };
}

async function run(plan: Plan): Promise<string[]> {
  const figures: Figure[] = [];
  const failures: string[] = [];
  for (const [index, { bench, group }] of plan.groups.entries()) {
    const show = (share: number, what: string): void => {
      const bar = barOf((index + share) / plan.groups.length);
      showProgress(`${bar} ${bench}, ${group.name}${what === "" ? "" : `: ${what}`}`);
    };
    show(0, "");
    const call = { bench, group: group.name, scale: plan.scale };
    const take = (bare: Figure): void => {
      const figure = complete(bare, plan);
      figures.push(figure);
      if (plan.isJson) printJson(bench, figure);
    };
    const failure = await runInChild(call, take, show);
    if (failure !== undefined) failures.push(`${bench}: ${failure}`);
  }
  showProgress("");
  if (!plan.isJson) printTable(figures, plan);
  finish(figures, plan, failures.length === 0);
  return failures;
}

function finish(figures: readonly Figure[], plan: Plan, hasNoFailure: boolean): void {
  const names = new Set(plan.groups.map(({ bench }) => bench));
  const isWhole = plan.isWhole && hasNoFailure;
  for (const bench of BENCHES.filter(({ name }) => names.has(name))) {
    bench.finish?.({ figures, scale: plan.scale, isWhole, writesDocs: plan.writesDocs });
  }
}

try {
  endWithChildren();
  const failures = await run(parseArguments(process.argv.slice(2), BENCHES));
  for (const failure of failures) console.error(failure);
  process.exitCode = failures.length === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof BenchUsageError)) throw error;
  if (error instanceof HelpWanted) console.log(error.message);
  else console.error(error.message);
  process.exitCode = error instanceof HelpWanted ? 0 : 2;
}
