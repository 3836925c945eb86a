/** Every call of the port, by its name. */
import { BROKER_CALLS } from "./broker-calls.ts";
import type { CallRow } from "./call.ts";
import { FIND_CALLS } from "./find-calls.ts";
import { FLOW_CALLS } from "./flow-calls.ts";
import { GATE_CALLS } from "./gate-calls.ts";
import { GROUP_CALLS } from "./group-calls.ts";
import { JOB_CALLS } from "./job-calls.ts";
import { QUEUE_CALLS } from "./queue-calls.ts";
import { SCHEDULE_CALLS } from "./schedule-calls.ts";
import { STORE_CALLS } from "./store-calls.ts";

// The types are written out: those that tsc infers would name other packages in the declarations.
type CallTables = {
  readonly Jobs: typeof JOB_CALLS;
  readonly Finding: typeof FIND_CALLS;
  readonly Flows: typeof FLOW_CALLS;
  readonly Groups: typeof GROUP_CALLS;
  readonly Queues: typeof QUEUE_CALLS;
  readonly Schedules: typeof SCHEDULE_CALLS;
  readonly Gates: typeof GATE_CALLS;
  readonly Stores: typeof STORE_CALLS;
  readonly Broker: typeof BROKER_CALLS;
};

type Calls = typeof JOB_CALLS &
  typeof FIND_CALLS &
  typeof FLOW_CALLS &
  typeof GROUP_CALLS &
  typeof QUEUE_CALLS &
  typeof SCHEDULE_CALLS &
  typeof GATE_CALLS &
  typeof STORE_CALLS &
  typeof BROKER_CALLS;

/** The calls by what users look for, as the reference lists them. */
export const CALL_TABLES: CallTables = {
  Jobs: JOB_CALLS,
  Finding: FIND_CALLS,
  Flows: FLOW_CALLS,
  Groups: GROUP_CALLS,
  Queues: QUEUE_CALLS,
  Schedules: SCHEDULE_CALLS,
  Gates: GATE_CALLS,
  Stores: STORE_CALLS,
  Broker: BROKER_CALLS,
};

export const CALLS: Calls = {
  ...JOB_CALLS,
  ...FIND_CALLS,
  ...FLOW_CALLS,
  ...GROUP_CALLS,
  ...QUEUE_CALLS,
  ...SCHEDULE_CALLS,
  ...GATE_CALLS,
  ...STORE_CALLS,
  ...BROKER_CALLS,
};

export type CallName = keyof Calls;

export const CALL_NAMES = Object.keys(CALLS) as readonly CallName[];

/** The row of a call, without its types. */
export function rowOf(name: CallName): CallRow {
  return CALLS[name];
}
