// What a history consists of: everything that went through the Broker port, in order, as plain
// data, so that a process can write it to a file and another one can judge it.
//
//   call       a call was made; it may take effect from here on, whether or not it is answered
//   answer     the call was answered, or refused with a code
//   delivery   jobs came to a consumer, or in answer to a poll
//   event      the broker told of something
//   end        the broker is gone; what was not answered may or may not have happened
//   state      after an opening, before anything else was asked: all that can be seen

import type {
  BrokerEvent,
  ErrorCode,
  Extend,
  GateInfo,
  GateSettings,
  GroupInfo,
  JobFields,
  JobState,
  Nack,
  QueueOptions,
  QueueStats,
  StoreEntry,
} from "@sluice/protocol";

// Workers with such names live in the process of the broker: a crash ends their leases.
// A queue whose jobs come from schedules: it is judged apart.
export const UNWATCHED = "ticks";

// Nor are those of flows, which have a judge of their own.
export const FLOWS = "flows";

export function isUnwatched(queue: string): boolean {
  return queue === UNWATCHED || queue === FLOWS;
}

export const OWN_WORKER = "own";

// A job to add. Its payload and its headers follow from its number, which no other job has.
export interface JobNote extends Omit<JobFields, "headers"> {
  readonly number: number;
}

export type PortCall =
  | { call: "add"; queue: string; jobs: readonly JobNote[] }
  | { call: "poll"; queue: string; worker: string; max: number; wait: number; lease: number }
  | { call: "ack" | "giveBack"; leases: readonly string[] }
  | { call: "nack"; items: readonly Nack[] }
  | { call: "extend"; items: readonly Extend[] }
  | { call: "cancel" | "retry"; ids: readonly string[] }
  | { call: "cancelByKey"; queue: string; keys: readonly string[] }
  | { call: "setQueue"; queue: string; options: QueueOptions }
  | { call: "deleteQueue" | "purge" | "redrive"; queue: string }
  | { call: "setGate"; gate: string; config: GateSettings }
  | { call: "deleteGate" | "clearCooldown"; gate: string }
  | { call: "cooldown"; gate: string; ms: number }
  | { call: "storeWrite"; store: string; entries: readonly StoreEntry[] };

// The answer for one item of a batch; calls without items have one.
export type ItemAnswer = { ok: unknown } | { error: ErrorCode };

export interface Delivered {
  readonly id: string;
  readonly lease: string;
  readonly queue: string;
  readonly attempt: number;
  readonly attempts: number;
  readonly tier: number;
  readonly expiresAt: number;
  // The number that payload and headers encode, or what is wrong with them.
  readonly body: number | string;
}

export interface SeenJob {
  readonly id: string;
  readonly queue: string;
  readonly state: JobState;
  readonly attempt: number;
  readonly at?: number | undefined;
  readonly body: number | string;
}

export interface Seen {
  readonly queues: readonly { name: string; stats: QueueStats }[];
  readonly jobs: readonly SeenJob[];
  readonly gates: readonly GateInfo[];
  readonly stores: readonly { store: string; entries: readonly StoreEntry[] }[];
  readonly groups: readonly GroupInfo[];
}

// Times are the broker's. They continue from the last fact if the wall clock is behind it.
export type HistoryRecord =
  // `wallAheadMs` is how far the clock on the wall is ahead: what `runAt` and `deadline` go by.
  | { is: "call"; n: number; at: number; wallAheadMs: number; call: PortCall }
  // The clock on the wall has stepped, or a broker has begun to go by it.
  | { is: "wall"; at: number; wallAheadMs: number }
  // A broker ended while it opened. It is unknown whether it had begun to use this wall clock.
  | { is: "unseen"; wallAt: number }
  | { is: "answer"; n: number; at: number; items: readonly ItemAnswer[] }
  | { is: "delivery"; at: number; to: string; leaseMs: number; jobs: readonly Delivered[] }
  | { is: "event"; event: BrokerEvent }
  | { is: "end"; at: number; isClean: boolean }
  // `clockAt` is what the clock said just before, `openMs` how long the broker had been open.
  | { is: "state"; at: number; clockAt: number; openMs: number; seen: Seen };
