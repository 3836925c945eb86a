import {
  type BulkAction,
  type BulkInfo,
  type BulkOptions,
  invalid,
  type JobFilter,
  type JobState,
} from "@sluice/protocol";
import { BULK_PAYLOAD_BYTES_MAX } from "../limits.ts";
import { plainJson } from "../refuse.ts";

/** What a broker remembers of an action on many jobs: enough to go on after a crash. */
export interface BulkRecord extends BulkInfo {
  /** Jobs with a larger id were not there when it started. */
  lastId: number;
  /**
   * Jobs with a later place in the order of entries have changed since. Whatever a retry, a run or
   * a move does to a job gives it a later place, so none is done twice, though after a crash the
   * walk begins again.
   */
  lastPlace: number;
  payload?: unknown;
}

/** The store that holds them, one to a key. */
export const BULK_STORE = "sluice:bulk";

const OPEN: readonly JobState[] = ["waiting", "delayed", "blocked", "running"];
const FAILED: readonly JobState[] = ["dead", "failed"];

/** The jobs that an action means when a filter names neither states nor ids. */
const STATES: Readonly<Record<BulkAction, readonly JobState[]>> = {
  retry: FAILED,
  cancel: OPEN,
  delete: FAILED,
  run: ["delayed"],
  move: ["waiting", "delayed", "dead"],
};

/** An action that has not begun. */
export function newRecord(
  action: BulkAction,
  filter: JobFilter,
  { to, payload, by }: BulkOptions,
): Omit<BulkRecord, "id" | "startedAt" | "lastId" | "lastPlace"> {
  if (action === "move" && to === undefined) throw invalid("to", "the name of a queue", to);
  if (to !== undefined && action !== "move" && action !== "retry") {
    throw invalid("to", "absent unless the action is `move` or `retry`", to);
  }
  if (payload !== undefined && action !== "retry") {
    throw invalid("payload", "absent unless the action is `retry`", payload);
  }
  const isNamed = filter.states !== undefined || filter.ids !== undefined;
  const value =
    payload === undefined ? undefined : plainJson("payload", payload, BULK_PAYLOAD_BYTES_MAX);
  return {
    action,
    filter: isNamed ? { ...filter } : { ...filter, states: STATES[action] },
    ...(to === undefined ? {} : { to }),
    ...(payload === undefined ? {} : { edited: true as const, payload: value }),
    state: "running",
    done: 0,
    refused: 0,
    ...(by === undefined ? {} : { by }),
  };
}

/** Ids that the record of a finished action keeps, because the record is kept for long. */
const IDS_TOLD = 100;

/** One that is over, without what it found for each job. */
export function shortened({ payload: _, ...record }: BulkRecord): BulkRecord {
  const { ids } = record.filter;
  if (ids === undefined || ids.length <= IDS_TOLD) return record;
  return { ...record, filter: { ...record.filter, ids: ids.slice(0, IDS_TOLD) } };
}

/** Without what only the broker needs. */
export function infoOf(record: BulkRecord): BulkInfo {
  const { lastId: _, lastPlace: __, payload: ___, ...info } = record;
  return info;
}
