import { adding, repeating, repeatingSurvives } from "./add.ts";
import { bulk, bulkSurvives } from "./bulk.ts";
import { bounding } from "./call-options.ts";
import { cancelling } from "./cancel.ts";
import { admission, capacity, results } from "./capacity.ts";
import type { ConformanceCase, Register, RunningTest } from "./case.ts";
import { closing } from "./close.ts";
import { consuming, working } from "./consume.ts";
import { coolingRights, coolingRightsSurvive } from "./cooling-rights.ts";
import { cancelByKey, dedupe } from "./dedupe.ts";
import { telling } from "./events.ts";
import { dying, failing } from "./fail.ts";
import { laning, sharing, tiers } from "./fairness.ts";
import { finding, findsSurvive } from "./find.ts";
import { extending, finishing, holding } from "./finish.ts";
import { adding as addingFlows, flowsSurvive, waiting as waitingForOthers } from "./flows.ts";
import { changing, cooling } from "./gate-changes.ts";
import { parts, refusals, releases } from "./gates.ts";
import { grouping, heldGroupsSurvive, holding as holdingGroups, waitingMembers } from "./groups.ts";
import { inspecting, listing } from "./inspect.ts";
import { bearing, placing, timing } from "./job-options.ts";
import { leasing, polling } from "./lease.ts";
import { delivering, failuresSurvive, lettersLive } from "./letters.ts";
import { limits } from "./limits.ts";
import type { Open } from "./opened.ts";
import { policies, policiesSurvive } from "./policies.ts";
import { queues } from "./queues.ts";
import { redriving, retrying } from "./redrive.ts";
import { changesSurvive } from "./reopen-changes.ts";
import { consumersCrash, consumersLeave, jobsSurvive, namesSurvive } from "./reopen-jobs.ts";
import { gatesSurvive, queuesSurvive, storesSurvive } from "./reopen-state.ts";
import { repeatingRare } from "./repeating.ts";
import { Scene } from "./scene.ts";
import { schedulesSurvive, scheduling } from "./schedules.ts";
import { stepping, stepsSurvive } from "./steps.ts";
import { storing } from "./stores.ts";
import { explaining } from "./why.ts";

export type { ConformanceCase, Register } from "./case.ts";
export { clockConformance } from "./clock.ts";
export { type Dispatch, type Excess, excesses, tokensLeft, usedAfter } from "./excesses.ts";
export { JobHistory } from "./job-history.ts";
export type { HowItEnds, Open, Opened } from "./opened.ts";

/** All that the port promises, a sentence each. */
const CASES: readonly ConformanceCase[] = [
  ...adding,
  ...repeating,
  ...repeatingSurvives,
  ...repeatingRare,
  ...bounding,
  ...placing,
  ...timing,
  ...bearing,
  ...limits,
  ...dedupe,
  ...cancelByKey,
  ...leasing,
  ...polling,
  ...consuming,
  ...working,
  ...finishing,
  ...holding,
  ...extending,
  ...failing,
  ...dying,
  ...lettersLive,
  ...delivering,
  ...failuresSurvive,
  ...redriving,
  ...retrying,
  ...cancelling,
  ...inspecting,
  ...listing,
  ...finding,
  ...findsSurvive,
  ...bulk,
  ...bulkSurvives,
  ...explaining,
  ...waitingForOthers,
  ...addingFlows,
  ...flowsSurvive,
  ...grouping,
  ...holdingGroups,
  ...waitingMembers,
  ...heldGroupsSurvive,
  ...queues,
  ...policies,
  ...capacity,
  ...admission,
  ...results,
  ...sharing,
  ...laning,
  ...tiers,
  ...parts,
  ...releases,
  ...refusals,
  ...changing,
  ...cooling,
  ...coolingRights,
  ...coolingRightsSurvive,
  ...stepping,
  ...storing,
  ...scheduling,
  ...telling,
  ...closing,
  ...jobsSurvive,
  ...namesSurvive,
  ...changesSurvive,
  ...consumersLeave,
  ...consumersCrash,
  ...gatesSurvive,
  ...queuesSurvive,
  ...policiesSurvive,
  ...stepsSurvive,
  ...storesSurvive,
  ...schedulesSurvive,
];

/**
 * Subjects that the engine and its log decide alone: a layer that only passes calls on cannot break
 * them, so its tests may skip them.
 */
export const ENGINE_SUBJECTS: RegExp =
  /^(?:job options|limits of a job|policies|capacity|admission|fairness|tiers|gates|deliveries)|survive,|, after a /;

/**
 * The suite that an implementation of the Broker port must pass. It registers one test a case;
 * each opens an implementation of its own, so that they share nothing and may run in any order.
 * `skipped` are the subjects that this implementation cannot break: they run too when the
 * environment says CONFORMANCE=all, as before a release.
 */
export function brokerConformance(
  name: string,
  open: Open,
  register: Register,
  { skipped }: { skipped?: RegExp } = {},
): void {
  const isAll = environment().CONFORMANCE === "all";
  for (const one of CASES) {
    if (!isAll && skipped?.test(one.subject) === true) continue;
    register(`${name}: ${one.subject}: ${one.name}`, (test) => runCase(one, open, test));
  }
}

/** Of the process, where there is one. */
function environment(): Readonly<Record<string, string | undefined>> {
  const { process } = globalThis as { process?: { env: Record<string, string | undefined> } };
  return process?.env ?? {};
}

async function runCase(one: ConformanceCase, open: Open, test: RunningTest): Promise<void> {
  const scene = await Scene.open(open, one.reopens ?? "close");
  try {
    if (one.reopens !== undefined && !scene.canReopen) {
      test.skip("this implementation cannot be opened again on its data");
      return;
    }
    await one.run(scene);
  } finally {
    await scene.close();
  }
}
