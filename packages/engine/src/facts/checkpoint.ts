import type { Core } from "../core.ts";
import type { GateState } from "../gates/gate-state.ts";
import { IN_STRAND, LEASED_JOB } from "../jobs/job-fields.ts";
import { AT_TIER, GATES, KEY, KIND, LANE, LEVEL, QUEUE, REM } from "../ring/node-fields.ts";
import { recordOf } from "../schedules/schedule-table.ts";
import { ROWS_PER_STEP } from "../tables/table-walk.ts";
import type { Ending } from "../types.ts";
import type { Fact } from "./facts.ts";

/**
 * Everything but the jobs, as facts. Earlier facts can be forgotten once the jobs among them are
 * emitted again (`moved`). A replay begins where a checkpoint begins.
 *
 * A checkpoint may be read in small steps while the engine continues to work. Each of its facts
 * contains the state at the time it is read, whatever earlier facts said. Later changes are emitted
 * later. Queues come first, in one step, because facts of jobs need them.
 */
export function* checkpoint(core: Core): Generator<Fact[]> {
  yield [...openings(core)];
  const released = new Set<GateState>();
  yield* findReleased(core, released);
  yield* inSteps(gateStates(core, released));
  yield* inSteps(groupFacts(core));
  yield* inSteps(positions(core));
  yield* inSteps(heldKeys(core));
  yield* inSteps(storeFacts(core));
  yield* inSteps(scheduleFacts(core));
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
  // First, so that a release that does not understand the rest says which one does.
  if (core.level.level > 1) yield { at, fact: "level", ...core.level };
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
  for (const { id, state, until } of core.flows.open.values()) {
    if (state !== "sealed") yield { at, fact: "flow", flow: id, state, until };
  }
  for (const { name, purgeUpTo, purgeAt, deleted } of core.purging) {
    if (!deleted) yield { at: purgeAt, fact: "purged", name, upTo: purgeUpTo };
  }
}

/**
 * The leases of a queue that is being deleted are over, although their rows are there still and
 * hold permits: an interval from the end counts from now.
 */
function* findReleased(core: Core, released: Set<GateState>): Generator<Fact[]> {
  if (!core.queues.some((queue) => queue?.deleted)) return;
  for (let row = 1; row < core.jobs.end; row++) {
    if (row % ROWS_PER_STEP === 0) yield [];
    if (core.jobs.state(row) !== LEASED_JOB || !core.queueOf(row).deleted) continue;
    const set = core.lanes.get(core.jobs.int(row, IN_STRAND), GATES);
    for (const gate of set === 0 ? [] : core.gates.set(set).gates) released.add(gate);
  }
}

/** Includes gates as new: a replay that missed a job's success must step the ladder down. */
function* gateStates(core: Core, released: ReadonlySet<GateState>): Generator<Fact> {
  for (const gate of core.gates.all()) {
    const at = core.now;
    const save = gate.save(at);
    if (gate.fromEnd && released.has(gate)) save.last = Math.ceil(at);
    yield { at, fact: "gate-state", key: gate.key, save };
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

/** The leads of lanes and levels in their rings: a leader must not gain from a restart. */
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

function* scheduleFacts(core: Core): Generator<Fact> {
  for (const [key, schedule] of core.schedules.byKey.from("")) {
    yield { at: core.now, fact: "schedule", key, schedule: recordOf(schedule) };
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
