import type { Core } from "../core.ts";
import { AT_TIER, KEY, KIND, LANE, LEVEL, QUEUE, REM } from "../ring/node-fields.ts";
import type { Ending } from "../types.ts";
import type { Fact } from "./facts.ts";

/**
 * Everything but the jobs, as facts, so that what was told before can be forgotten once the jobs
 * told there are told again (`moved`). Whoever replays begins where a checkpoint begins.
 *
 * It may be read a little at a time while the engine goes on: each of its facts says how a thing
 * stands when it is read, whatever was told of it before, and what happens to it later is told
 * later. Queues come first, in one step, because facts of jobs need them.
 */
export function* checkpoint(core: Core): Generator<Fact[]> {
  yield [...openings(core)];
  yield* inSteps(gateStates(core));
  yield* inSteps(groupFacts(core));
  yield* inSteps(positions(core));
  yield* inSteps(heldKeys(core));
  yield* inSteps(storeFacts(core));
  yield* inSteps(answers(core));
  yield* inSteps(counters(core));
}

/** Facts of one step: at a microsecond or two each, far below the 5 ms that a call may take. */
const FACTS_PER_STEP = 500;

function* inSteps(facts: Iterable<Fact>): Generator<Fact[]> {
  let step: Fact[] = [];
  for (const fact of facts) {
    if (step.push(fact) < FACTS_PER_STEP) continue;
    yield step;
    step = [];
  }
  if (step.length > 0) yield step;
}

/** The configuration: without it nothing else means anything. */
function* openings(core: Core): Generator<Fact> {
  const at = core.now;
  yield { at, fact: "ids", last: core.lastId, seq: core.lastSeq };
  if (core.wall.aheadMs !== 0) yield { at, fact: "wall", aheadMs: core.wall.aheadMs };
  if (core.leaseSecret !== undefined) {
    yield { at, fact: "lease-secret", secret: core.leaseSecret };
  }
  if (core.life > 0) yield { at, fact: "life", life: core.life, lot: core.lastLot };
  for (const [name, life] of core.borrowers) yield { at, fact: "borrower", name, life };
  for (const { name, config } of core.byName.values()) yield { at, fact: "queue", name, config };
  for (const { pattern, config } of core.gates.patterns.values()) {
    yield { at, fact: "gate", key: pattern, config };
  }
  for (const { name, purgeUpTo, purgeAt, deleted } of core.purging) {
    if (!deleted) yield { at: purgeAt, fact: "purged", name, upTo: purgeUpTo };
  }
}

/** Gates as new are told too: whoever missed the success of a job has a ladder to step down. */
function* gateStates(core: Core): Generator<Fact> {
  for (const gate of core.gates.all()) {
    const at = core.now;
    yield { at, fact: "gate-state", key: gate.key, save: gate.save(at) };
  }
}

/** A member whose queue is being deleted has ended, although its row is there still. */
function* groupFacts(core: Core): Generator<Fact> {
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
function* positions(core: Core): Generator<Fact> {
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
function* heldKeys(core: Core): Generator<Fact> {
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

function* storeFacts(core: Core): Generator<Fact> {
  for (const { store, key, value } of core.stores.entries()) {
    yield { at: core.now, fact: "stored", store, key, value };
  }
}

function* answers(core: Core): Generator<Fact> {
  for (const { name, call, since, answers } of core.operations.all(core.now)) {
    const told = { operation: name, call, since, answers: [...answers.values()] };
    yield { at: core.now, fact: "answered", ...told };
  }
}

function* counters(core: Core): Generator<Fact> {
  for (const queue of core.byName.values()) {
    const told = { ...queue.counters };
    yield { at: core.now, fact: "counters", queue: queue.name, counters: told, isDlq: queue.isDlq };
  }
}
