/**
 * Calls that a cluster makes as their rows in the table say. About jobs: at the partitions in their
 * ids, and the answers are put together in the order of the items. About a queue: at every
 * partition that holds it. About a gate or a store: at its home. About anything else: at every
 * partition.
 */
import {
  type Broker,
  type CallName,
  type CallRow,
  type ErrorCode,
  SluiceError,
} from "@sluice/protocol";
import { homeOfGate, homeOfStore } from "../hash.ts";
import { partitionOf } from "../partition-port/names.ts";
import { unknownJob, unknownLease } from "../partition-port/refuse.ts";
import { callShares, type Shares, sharesOf } from "./batch.ts";
import { mergeAnswers } from "./merge-answers.ts";
import type { PartitionCalls } from "./partition-calls.ts";

type Args = readonly unknown[];
type PlainCall = (calls: PartitionCalls, args: Args) => Promise<unknown>;
type Ports = Record<string, (...args: Args) => Promise<unknown>>;

/** A schedule is in one of the partitions of its queue. */
const NOT_FOUND: readonly ErrorCode[] = ["SCHEDULE_NOT_FOUND", "QUEUE_NOT_FOUND"];

export function plainCall(name: CallName, row: CallRow): PlainCall {
  if (row.jobs === "id") return ofJob(name, row);
  if (row.jobs !== undefined)
    return row.hasHoles ? ofBatchWithHoles(name, row) : ofBatch(name, row);
  if (row.about === "gate") return atHome(name, row, homeOfGate);
  if (row.about === "store") return atHome(name, row, homeOfStore);
  return row.about === "queue" ? ofQueue(name) : ofAll(name);
}

/** Answers that change nothing, and do not wait for something to happen, come within a time. */
function isBounded({ repeat, waits, jobs }: CallRow): boolean {
  return repeat === "read" ? !waits : repeat === "again" && jobs === undefined;
}

function at(name: CallName, args: Args): (port: Broker) => Promise<unknown> {
  return (port) => (port as unknown as Ports)[name]!(...args);
}

function makeAt(
  calls: PartitionCalls,
  partition: number,
  row: CallRow,
  call: (port: Broker) => Promise<unknown>,
): Promise<unknown> {
  return isBounded(row) ? calls.ask(partition, call) : calls.make(partition, call);
}

function ofJob(name: CallName, row: CallRow): PlainCall {
  return (calls, args) => makeAt(calls, partitionOfJob(calls, args[0]), row, at(name, args));
}

/** The partition in the id of a job, which need not be there. */
export function partitionOfJob(calls: PartitionCalls, id: unknown): number {
  calls.check();
  const partition = partitionOf(id);
  if (calls.isThere(partition)) return partition;
  throw SluiceError.fromJSON(unknownJob(id));
}

function split(calls: PartitionCalls, row: CallRow, items: readonly unknown[]): Shares<unknown> {
  calls.check();
  const refusal = row.jobs === "ids" ? unknownJob : unknownLease;
  return sharesOf(items, (item) => {
    const named = row.jobs === "items" ? (item as { lease?: unknown } | undefined)?.lease : item;
    const partition = partitionOf(named);
    return calls.isThere(partition) ? partition : refusal(named);
  });
}

function ofBatch(name: CallName, row: CallRow): PlainCall {
  return async (calls, [items, ...rest]) =>
    callShares(split(calls, row, items as unknown[]), ({ partition, items: own }) =>
      calls.make(partition, at(name, [own, ...rest]) as () => Promise<never>),
    );
}

/** A list in which `undefined` marks a job that is not there. */
function ofBatchWithHoles(name: CallName, row: CallRow): PlainCall {
  return async (calls, [items, ...rest]) => {
    const all = items as unknown[];
    const answers = new Array<unknown>(all.length).fill(undefined);
    const { shares } = split(calls, row, all);
    await Promise.all(
      shares.map(async ({ partition, items: own, places }) => {
        const answer = await calls.ask(partition, at(name, [own, ...rest]));
        for (const [i, place] of places.entries()) answers[place] = (answer as unknown[])[i];
      }),
    );
    return answers;
  };
}

function atHome(
  name: CallName,
  row: CallRow,
  homeOf: (key: string, partitions: number) => number,
): PlainCall {
  return (calls, args) => {
    const home = homeOf(String(args[0]), calls.directory.homes);
    return makeAt(calls, home, row, at(name, args));
  };
}

function ofQueue(name: CallName): PlainCall {
  return async (calls, args) => {
    const placement = calls.directory.placementOf(args[0] as string);
    const known = await calls.known(placement, NOT_FOUND, at(name, args));
    const answers = known.map(({ value }) => value);
    const partitions = calls.directory.addsTo(args[0] as string).length;
    return mergeAnswers(name, answers, partitions, args);
  };
}

function ofAll(name: CallName): PlainCall {
  return async (calls, args) => {
    const known = await calls.known(calls.all, [], at(name, args));
    const answers = known.map(({ value }) => value);
    return mergeAnswers(name, answers, calls.all.length, args);
  };
}
