import type { Core } from "./core.ts";
import type { Fact } from "./facts.ts";
import { ENDED_JOB, IN_FLOW, JOB_NEXT, SEQ } from "./job-fields.ts";
import { AT_TIER, KEY, KIND, LANE, LEVEL, QUEUE, REM } from "./nodes.ts";
import type { Queue } from "./queue.ts";
import { recordOf } from "./record.ts";
import type { Ending } from "./types.ts";

/**
 * The state as facts: applied to an empty engine in this order they rebuild it. Positions come
 * before jobs only where nothing depends on the order; waiting jobs come in the order of their
 * flows.
 */
export function* snapshot(core: Core): Generator<Fact> {
  const at = core.now;
  yield { at, fact: "ids", last: core.lastId, seq: core.lastSeq };
  const queues = [...core.byName.values()];
  for (const queue of queues) yield { at, fact: "queue", name: queue.name, config: queue.config };
  for (const { pattern, config } of core.gates.patterns.values()) {
    yield { at, fact: "gate", key: pattern, config };
  }
  for (const gate of core.gates.all()) {
    if (gate.pristine(at)) continue;
    yield { at, fact: "gate-state", key: gate.key, save: gate.save(at) };
  }
  yield* liveJobs(core, at);
  for (const queue of queues) yield* keptJobs(core, queue, at);
  yield* groups(core, at);
  for (const { name, purgeUpTo, purgeAt, deleted } of core.purging) {
    if (!deleted) yield { at: purgeAt, fact: "purged", name, upTo: purgeUpTo };
  }
  yield* positions(core, at);
  yield* heldKeys(core, queues, at);
  for (const { store, key, value } of core.stores.entries()) {
    yield { at, fact: "stored", store, key, value };
  }
  for (const queue of queues) {
    const counters = { ...queue.counters };
    yield { at, fact: "counters", queue: queue.name, counters, isDlq: queue.isDlq };
  }
}

/** In the order of entry, which is the order inside every flow. */
function* liveJobs(core: Core, at: number): Generator<Fact> {
  const rows: number[] = [];
  for (let row = 1; row < core.jobs.end; row++) {
    const state = core.jobs.state(row);
    if (state === 0 || state === ENDED_JOB || core.jobs.int(row, IN_FLOW) === 0) continue;
    const queue = core.queueOf(row);
    if (!queue.deleted) rows.push(row);
  }
  rows.sort((a, b) => core.jobs.num(a, SEQ) - core.jobs.num(b, SEQ));
  for (const row of rows) yield { at, fact: "job", job: recordOf(core, row) };
}

function* keptJobs(core: Core, queue: Queue, at: number): Generator<Fact> {
  for (let row = queue.keptHead; row !== 0; row = core.jobs.int(row, JOB_NEXT)) {
    yield { at, fact: "job", job: recordOf(core, row) };
  }
}

/** A member whose queue is being deleted has ended, although its row is there still. */
function* groups(core: Core, at: number): Generator<Fact> {
  for (const { group, ended } of core.groups.all()) {
    const members = [...group.members].map(
      ([id, ending]): readonly [number, Ending | undefined] => {
        const row = ending === undefined ? core.ids.find(id) : 0;
        return [id, row !== 0 && core.queueOf(row).deleted ? "cancelled" : ending];
      },
    );
    const isOver = members.every(([, ending]) => ending !== undefined);
    yield { at, fact: "group", name: group.name, members, ended: ended || isOver };
  }
}

/** The leads that lanes and levels have in their rings: whoever leads must not win by a restart. */
function* positions(core: Core, at: number): Generator<Fact> {
  for (let node = 1; node < core.rings.nodes.end; node++) {
    const kind = core.lanes.get(node, KIND);
    if ((kind !== LANE && kind !== LEVEL) || core.lanes.get(node, KEY) === 0) continue;
    if (core.rings.isForgettable(node)) continue;
    const queue = core.queues[core.lanes.get(node, QUEUE)]!;
    if (queue.deleted) continue;
    const key = core.lanes.keyOf(node);
    yield {
      at,
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
function* heldKeys(core: Core, queues: readonly Queue[], at: number): Generator<Fact> {
  const names = new Map(queues.map((queue) => [queue.serial, queue.name]));
  for (const held of core.dedupes.all()) {
    const queue = names.get(held.queue);
    if (queue === undefined || held.until === Number.POSITIVE_INFINITY) continue;
    const key = core.dedupes.keyOf(held);
    yield { at, fact: "key-held", queue, key, id: held.id, until: held.until };
  }
}
