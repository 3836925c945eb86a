/** Which partitions get a fact of a checkpoint, and what of it. */
import type { Fact } from "@sluice/engine";
import { BULK_STORE, type BulkRecord } from "../bulk/bulk-record.ts";
import type { PartHomes } from "./part-homes.ts";
import type { QueuePlaces } from "./queue-places.ts";

export interface PartFacts {
  readonly homes: PartHomes;
  readonly places: QueuePlaces;
}

interface PartFact {
  readonly partition: number;
  readonly fact: Fact;
}

/** Policies read it in every partition. */
const CONFIG_STORE = "config";

export function partsOfFact(fact: Fact, of: PartFacts): readonly PartFact[] {
  const { homes, places } = of;
  const all = Array.from({ length: homes.count }, (_, i) => i);
  const at = (...partitions: readonly number[]): PartFact[] =>
    partitions.map((partition) => ({ partition, fact }));
  switch (fact.fact) {
    case "queue":
    case "purged":
      return at(...places.placesOf(fact.name));
    case "position":
      return at(...places.placesOf(fact.queue));
    case "counters":
      return countersOf(fact, places);
    case "key-held":
      return at(keyPlace(fact, places));
    case "schedule":
      return at(places.placesOf(fact.schedule.config.queue)[0]!);
    case "gate-state":
      return gateState(fact, homes, all);
    case "group":
      return groupParts(fact, places, all);
    case "flow":
      return at(...flowPlaces(fact.flow, places, all));
    case "stored":
      return storedParts(fact, homes, all);
    default:
      // Ids, times, limits of gates and remembered answers: every partition has them.
      return at(...all);
  }
}

type Of<K extends Fact["fact"]> = Extract<Fact, { fact: K }>;

/** The counts go to one partition, because a cluster adds up those of all. */
function countersOf(fact: Of<"counters">, places: QueuePlaces): PartFact[] {
  const none = Object.fromEntries(Object.keys(fact.counters).map((name) => [name, 0]));
  return places.placesOf(fact.queue).map((partition, i) => {
    const counters = i === 0 ? fact.counters : ({ ...none } as unknown as typeof fact.counters);
    return { partition, fact: { ...fact, counters } };
  });
}

function keyPlace({ id, queue }: Of<"key-held">, places: QueuePlaces): number {
  return places.hasJob(id) ? places.partitionOfJob(id) : places.placesOf(queue)[0]!;
}

/** What is used of a gate is known at its home; that it is cooled down is known everywhere. */
function gateState(fact: Of<"gate-state">, homes: PartHomes, all: readonly number[]): PartFact[] {
  const home = homes.homeOfGate(fact.key);
  const { ladderStep, cooldown } = fact.save;
  const copy: Of<"gate-state">["save"] = {};
  if (ladderStep !== undefined) copy.ladderStep = ladderStep;
  if (cooldown !== undefined) copy.cooldown = cooldown;
  return all.map((partition) => ({
    partition,
    fact: partition === home ? fact : { ...fact, save: copy },
  }));
}

/** A group may have members in several partitions; each has its own. */
function groupParts(fact: Of<"group">, places: QueuePlaces, all: readonly number[]): PartFact[] {
  const known = fact.members.find(([id]) => places.hasJob(id));
  // Members that ended long ago are counted where another one is.
  const rest = known === undefined ? all[0] : places.partitionOfJob(known[0]);
  const placeOf = (id: number): number | undefined =>
    places.hasJob(id) ? places.partitionOfJob(id) : rest;
  return all.flatMap((partition) => {
    const members = fact.members.filter(([id]) => placeOf(id) === partition);
    if (members.length === 0 && !fact.held) return [];
    const isOver = !fact.held && members.every(([, ending]) => ending !== undefined);
    return [{ partition, fact: { ...fact, members, ended: fact.ended || isOver } }];
  });
}

/** One without jobs may get some wherever its first queue is. */
function flowPlaces(flow: number, places: QueuePlaces, all: readonly number[]): readonly number[] {
  const partition = places.partitionOfFlow(flow);
  return partition === undefined ? all : [partition];
}

function storedParts(fact: Of<"stored">, homes: PartHomes, all: readonly number[]): PartFact[] {
  if (fact.store === BULK_STORE) return bulkParts(fact, all);
  const partitions = fact.store === CONFIG_STORE ? all : [homes.homeOfStore(fact.store)];
  return partitions.map((partition) => ({ partition, fact }));
}

/** One that runs continues in every partition; what it has done so far counts in the first. */
function bulkParts(fact: Of<"stored">, all: readonly number[]): PartFact[] {
  const [first = 0, ...others] = all;
  const record = fact.value as BulkRecord;
  if (record.endedAt !== undefined) return [{ partition: first, fact }];
  const value = {
    ...record,
    done: 0,
    refused: 0,
    ...(record.matched === undefined ? {} : { matched: 0 }),
  };
  const copies = others.map((partition) => ({ partition, fact: { ...fact, value } }));
  return [{ partition: first, fact }, ...copies];
}
