/** Every call of the port, by its name. */
import { BROKER_CALLS } from "./broker-calls.ts";
import type { CallRow } from "./call.ts";
import { GATE_CALLS } from "./gate-calls.ts";
import { GROUP_CALLS } from "./group-calls.ts";
import { JOB_CALLS } from "./job-calls.ts";
import { QUEUE_CALLS } from "./queue-calls.ts";
import { STORE_CALLS } from "./store-calls.ts";

/** The calls by what users look for, as the reference lists them. */
export const CALL_TABLES = {
  Jobs: JOB_CALLS,
  Groups: GROUP_CALLS,
  Queues: QUEUE_CALLS,
  Gates: GATE_CALLS,
  Stores: STORE_CALLS,
  Broker: BROKER_CALLS,
};

export const CALLS = {
  ...JOB_CALLS,
  ...GROUP_CALLS,
  ...QUEUE_CALLS,
  ...GATE_CALLS,
  ...STORE_CALLS,
  ...BROKER_CALLS,
};

export type CallName = keyof typeof CALLS;

export const CALL_NAMES = Object.keys(CALLS) as readonly CallName[];

/** The row of a call, without its types. */
export function rowOf(name: CallName): CallRow {
  return CALLS[name];
}
