import type { Core } from "./core.ts";
import { endJob } from "./end.ts";
import type { GateLine } from "./gates.ts";
import { COST, WAITING_JOB } from "./job-fields.ts";
import { waitTooLong } from "./max-waits.ts";
import { leaveFlow } from "./moves.ts";
import { gateKeys } from "./record.ts";

/** Ends a waiting job whose gate opens too late for it, judged by the job as it is now. */
export function endWait(core: Core, row: number, gate: GateLine): void {
  const maxWaitMs = core.jobs.extra(row)?.maxWaitMs ?? Number.POSITIVE_INFINITY;
  // It may have left the gate since, to the dead letter queue say.
  if (core.jobs.state(row) !== WAITING_JOB || !gateKeys(core, row).includes(gate.key)) return;
  const waitMs = gate.waitMs(core.jobs.int(row, COST), core.tierOf(row), core.now);
  if (waitMs <= maxWaitMs) return;
  leaveFlow(core, row, core.now);
  const waited = { gate: gate.key, waitMs, maxWaitMs };
  endJob(core, row, "wait-too-long", core.now, { error: waitTooLong(waited), waited });
}
