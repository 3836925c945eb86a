// The figures. A benchmark is not a test: what falls short of its target is shown and fails
// nothing; only a measurement that could not be made does.

import { availableParallelism, cpus, loadavg } from "node:os";
import { type Plan, parseArguments, UsageError } from "./arguments.ts";
import { BENCHES } from "./benches.ts";
import { runInChild } from "./child.ts";
import type { Figure } from "./figure.ts";
import { tableOf } from "./table.ts";

const EXIT_BY_SIGNAL = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

function endWithChildren(): void {
  for (const [signal, code] of Object.entries(EXIT_BY_SIGNAL)) {
    process.on(signal, () => process.exit(code));
  }
}

function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

function printJson(bench: string, { metric, value, unit, conditions }: Figure): void {
  showProgress("");
  console.log(JSON.stringify({ bench, metric, value, unit, conditions }));
}

function printTable(figures: readonly Figure[], { scale }: Plan): void {
  const machine = `${cpus()[0]?.model ?? "unknown processor"}, ${availableParallelism()} cores`;
  console.log(`Node ${process.version}, ${machine}`);
  if (scale.isQuick)
    console.log(`Quick: sizes ÷ 10, ${scale.runs} runs; targets are of full size.`);
  console.log(`\n${tableOf(figures)}`);
}

// Says of each figure what all of them share.
function complete(figure: Figure, { scale }: Plan): Figure {
  const quick = scale.isQuick ? { quick: "sizes divided by 10, 3 runs" } : {};
  // A machine that is busy with other things measures those too.
  const machineLoad = Number(loadavg()[0]!.toFixed(1));
  const conditions = { ...figure.conditions, ...quick, machineLoad, node: process.version };
  return { ...figure, conditions };
}

async function run(plan: Plan): Promise<string[]> {
  const figures: Figure[] = [];
  const failures: string[] = [];
  for (const [index, { bench, group }] of plan.groups.entries()) {
    showProgress(`${bench}: ${group.name} (${index + 1} of ${plan.groups.length})`);
    const call = { bench, group: group.name, isQuick: plan.scale.isQuick };
    const failure = await runInChild(call, (bare) => {
      const figure = complete(bare, plan);
      if (plan.isJson) printJson(bench, figure);
      else figures.push(figure);
    });
    if (failure !== undefined) failures.push(`${bench}: ${failure}`);
  }
  showProgress("");
  if (!plan.isJson) printTable(figures, plan);
  return failures;
}

try {
  endWithChildren();
  const failures = await run(parseArguments(process.argv.slice(2), BENCHES));
  for (const failure of failures) console.error(failure);
  process.exitCode = failures.length === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
