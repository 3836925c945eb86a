import type { Core } from "../core.ts";
import { DELAYED_JOB, JOB_NEXT, LEASED_JOB } from "../jobs/job-fields.ts";
import type { QueueState } from "../queues/queue-state.ts";
import { AT_TIER, HEAD, KEY, KIND, LANE, LEVEL, QUEUE, REM, STRAND } from "../ring/node-fields.ts";
import type { Ending } from "../types.ts";
import { answers, counters, gateStates, openings, storeFacts } from "./checkpoint.ts";
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

/** A member whose queue is being deleted has ended, although its row is there still. */
export function* groupFacts(core: Core): Generator<Fact> {
  for (const { group, ended } of core.groups.all()) {
    const members = [...group.members].map(
      ([id, ending]): readonly [number, Ending | undefined] => {
        const row = ending === undefined ? core.ids.find(id) : 0;
        return [id, row !== 0 && core.queueOf(row).deleted ? "cancelled" : ending];
      },
    );
    const { name, isHeld: held } = group;
    const isOver = !held && members.every(([, ending]) => ending !== undefined);
    yield { at: core.now, fact: "group", name, members, ended: ended || isOver, held };
  }
}

/** The leads that lanes and levels have in their rings: whoever leads must not win by a restart. */
export function* positions(core: Core): Generator<Fact> {
  for (let node = 1; node < core.rings.nodes.end; node++) {
    const kind = core.lanes.get(node, KIND);
    if ((kind !== LANE && kind !== LEVEL) || core.lanes.get(node, KEY) === 0) continue;
    if (core.rings.isForgettable(node)) continue;
    const queue = core.queues[core.lanes.get(node, QUEUE)]!;
    if (queue.deleted) continue;
    const key = core.lanes.keyOf(node);
    yield {
      at: core.now,
      fact: "position",
      queue: queue.name,
      tier: core.lanes.get(node, AT_TIER),
      path: typeof key === "string" ? [key] : key,
      isLevel: kind === LEVEL,
      rounds: core.rings.roundsAhead(node),
      rem: core.lanes.get(node, REM),
    };
  }
}

/** Windows that outlive their jobs. */
export function* heldKeys(core: Core): Generator<Fact> {
  const at = core.now;
  const queues = [...core.byName.values()];
  const names = new Map(queues.map((queue) => [queue.serial, queue.name]));
  for (const held of core.dedupes.all()) {
    const queue = names.get(held.queue);
    if (queue === undefined || held.until === Number.POSITIVE_INFINITY) continue;
    const key = core.dedupes.keyOf(held);
    yield { at, fact: "key-held", queue, key, id: held.id, until: held.until };
  }
}
