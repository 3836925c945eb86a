/** What the server answers, where the port has no type for it. */
import type { FairnessKey, JobInfo, JobState, QueueStats } from "@sluice/protocol";

export interface Session {
  hasKeys: boolean;
  hasBroker: boolean;
  grants: { action: "produce" | "consume" | "admin"; on: string }[];
}

export interface Standing {
  reason: "paused" | "dead-letters" | "no-workers" | "gated" | "busy";
  gate?: string;
  part?: string;
  until?: number;
  note?: string;
}

export type Points = readonly (number | null)[];

export interface OverviewItem {
  name: string;
  stats: Omit<QueueStats, "name" | "perTier">;
  inRate: number;
  outRate: number;
  failureRate: number;
  deadLetters: number;
  dlq?: string;
  isDeadLetters?: true;
  oldestAt?: number;
  standing?: Standing;
  sparks?: { waiting: Points; in: Points; out: Points; failures: Points };
}

export interface Overview {
  at: number;
  tick: number;
  total: number;
  totals: { queues: number; waiting: number; leased: number; inRate: number; outRate: number };
  items: OverviewItem[];
  cursor?: string;
}

export interface QueueHistory {
  everyMs: number;
  times: number[];
  series: Record<"waiting" | "in" | "out" | "failures" | "waitP50Ms" | "waitP99Ms", Points>;
}

/** A job as a list or its own address shows it. */
export interface ShownJob extends Omit<JobInfo, "payload" | "result" | "fairnessKey"> {
  state: JobState;
  fairnessKey: FairnessKey;
  payload?: unknown;
  payloadBase64?: string;
  payloadBytes: number;
  isPayloadOmitted?: boolean;
  result?: unknown;
  resultBase64?: string;
}

export interface JobsPage {
  items: ShownJob[];
  cursor?: string;
  looked?: number;
}

export interface AppFact {
  label: string;
  value: string | number;
  tone?: "good" | "warn" | "bad";
}

export type AppSection =
  | { kind: "facts"; title: string; facts: AppFact[] }
  | { kind: "table"; title: string; columns: string[]; rows: (string | number)[][] }
  | {
      kind: "chart";
      title: string;
      unit?: string;
      series: { label: string; points: [timeMs: number, value: number][] }[];
    };

export interface AppAction {
  name: string;
  title: string;
  confirm?: string;
  fields?: { name: string; label: string; value?: string }[];
}

export interface AppAnswer {
  name: string;
  title: string;
  view: { sections: AppSection[]; actions?: AppAction[] };
}
