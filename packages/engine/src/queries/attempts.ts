import type { HistoryEntry } from "../types.ts";

/** One delivery of a job: to whom, how long it ran, and how it was over. */
export interface AttemptView {
  /** The count of the delivery. */
  lease: number;
  worker?: string;
  startedAt: number;
  /** Absent: it runs still. */
  endedAt?: number;
  /** How it was over: failed, expired, returned, finished, ... */
  outcome?: string;
  error?: string;
}

const LEASE = /^lease (\d+)(?: by (.*))?$/s;

/** The deliveries that a job's history tells of, in order. */
export function attemptsOf(history: readonly HistoryEntry[]): AttemptView[] {
  const attempts: AttemptView[] = [];
  let open: AttemptView | undefined;
  for (const { at, event, detail } of history) {
    if (event === "dispatched") {
      const [, lease, worker] = LEASE.exec(detail ?? "") ?? [];
      open = { lease: Number(lease ?? 0), startedAt: at };
      if (worker !== undefined) open.worker = worker;
      attempts.push(open);
    } else if (open !== undefined) {
      open.endedAt = at;
      open.outcome = event === "ended" ? (detail ?? event) : event;
      if (event !== "ended" && detail !== undefined) open.error = detail;
      open = undefined;
    }
  }
  return attempts;
}
