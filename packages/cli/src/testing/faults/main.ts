// The process inside the sandbox: it makes a cluster, injects faults and prints a line of JSON for
// each, and one with the verdict.

import { parseArgs } from "node:util";
import { NATS_VERSION } from "@sluice/log/testing";
import { FAULTS, type Pick } from "./faults.ts";
import { runFaults } from "./run-faults.ts";

const { values } = parseArgs({
  options: {
    nats: { type: "string", default: NATS_VERSION },
    seed: { type: "string", default: "1" },
    fault: { type: "string", multiple: true },
    // How long each fault lasts, as a part of its own time.
    share: { type: "string", default: "1" },
  },
});
const faults = (values.fault ?? []).map((name) => {
  const fault = FAULTS.find((one) => one.name === name);
  if (fault === undefined) throw new Error(`there is no fault "${name}"`);
  return { ...fault, holdMs: fault.holdMs * Number(values.share) };
});

const tell = (line: Record<string, unknown>): void => console.log(JSON.stringify(line));
try {
  const verdict = await runFaults({
    version: values.nats,
    faults,
    pick: pickBy(Number(values.seed)),
    tell,
  });
  tell({ verdict });
  process.exitCode = verdict.violations.length > 0 ? 1 : 0;
} catch (error) {
  tell({ failed: String((error as Error).stack ?? error) });
  process.exitCode = 1;
}
// Servers and clients that a failure left behind end with the sandbox.
process.exit();

function pickBy(seed: number): Pick {
  let state = seed >>> 0;
  return (choices) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return choices[Math.floor((state / 2 ** 32) * choices.length)]!;
  };
}
