import type { Core } from "../core.ts";
import { DELAYED_JOB, JOB_NEXT, LEASED_JOB } from "../jobs/job-fields.ts";
import type { QueueState } from "../queues/queue-state.ts";
import { HEAD, KIND, STRAND } from "../ring/node-fields.ts";
import {
  answers,
  counters,
  gateStates,
  groupFacts,
  heldKeys,
  openings,
  positions,
  storeFacts,
} from "./checkpoint.ts";
import type { Fact } from "./facts.ts";
import { recordOf } from "./record.ts";

/**
 * The state as facts: applied to an empty engine in this order they rebuild it.
 *
 * Every fact is made when it is asked for, from where its job stands: nothing is collected or
 * sorted first (that took seconds at ten million jobs, and as much memory again). The price: the
 * state must not change until the last one was taken.
 */
export function* snapshot(core: Core): Generator<Fact> {
  yield* openings(core);
  yield* gateStates(core);
  yield* timedJobs(core);
  yield* waitingJobs(core);
  for (const queue of core.byName.values()) yield* keptJobs(core, queue);
  yield* groupFacts(core);
  yield* positions(core);
  yield* heldKeys(core);
  yield* storeFacts(core);
  yield* answers(core);
  yield* counters(core);
}

/** Delayed and leased jobs. Leases come before what waits: they hold places in the gates. */
function* timedJobs(core: Core): Generator<Fact> {
  const { jobs, now: at } = core;
  for (let row = 1; row < jobs.end; row++) {
    const state = jobs.state(row);
    if (state !== DELAYED_JOB && state !== LEASED_JOB) continue;
    if (!core.queueOf(row).deleted) yield { at, fact: "job", job: recordOf(core, row) };
  }
}

/**
 * Waiting jobs, strand by strand. Order means something inside a strand only, and there it is that
 * of the strand itself; between strands the age that each job carries decides.
 */
function* waitingJobs(core: Core): Generator<Fact> {
  const { jobs, lanes, now: at } = core;
  for (let node = 1; node < lanes.nodes.end; node++) {
    if (lanes.get(node, KIND) !== STRAND) continue;
    const first = lanes.get(node, HEAD);
    if (first === 0 || core.queueOf(first).deleted) continue;
    for (let row = first; row !== 0; row = jobs.int(row, JOB_NEXT)) {
      yield { at, fact: "job", job: recordOf(core, row) };
    }
  }
}

function* keptJobs(core: Core, queue: QueueState): Generator<Fact> {
  const at = core.now;
  for (let row = queue.keptHead; row !== 0; row = core.jobs.int(row, JOB_NEXT)) {
    yield { at, fact: "job", job: recordOf(core, row) };
  }
}
