/** What the HTTP API answers where the port has no type for it; the dashboard reads it. */
import type { OnDependencyFailure } from "./flow.ts";
import type { GatePart, JobInfo, JobState } from "./job.ts";
import type { QueueStats } from "./queue.ts";
import type { SessionGrant } from "./roles.ts";

/** Who one is. */
export interface Session {
  /** Whether callers are asked for a key. */
  hasKeys: boolean;
  /** False: an app's own server. */
  hasBroker: boolean;
  /** Whether webhooks can be made. */
  hasWebhooks?: boolean;
  grants: readonly SessionGrant[];
  /** Who is logged in, when the page is behind the login of another server. */
  user?: string;
  /** Whether whatever changes something is refused. */
  isReadOnly: boolean;
}

/**
 * Why a queue with something to do does not move, as data; a page puts it into words, as it knows
 * the reader's zone.
 *
 *   paused         an operator has stopped it
 *   delayed        nothing is due yet
 *   dead-letters   it holds what failed elsewhere: it is not meant to have workers
 *   no-workers     no worker takes jobs
 *   capacity       as many jobs run as may
 *   gated          workers are free and yet jobs wait: gates keep all of them
 *   failing        jobs run, and all that ends has failed
 *   busy           all workers have jobs, and none has ended since the last look
 */
export type StandingReason =
  | ("paused" | "delayed" | "dead-letters" | "no-workers")
  | ("capacity" | "gated" | "failing" | "busy");

export interface Standing {
  reason: StandingReason;
  /** Of `delayed`: when the next job is due. */
  until?: number;
  /** Of `capacity`: how many may run. */
  limit?: number;
  /** Of `gated`: the gates, those first that keep most lanes. */
  gates?: StandingGate[];
  /** How many gates keep it in all; absent: only the gate of the oldest job was looked at. */
  gatesTotal?: number;
}

export interface StandingGate {
  gate: string;
  part?: GatePart;
  /** When it opens; absent: when something is released, or never at a rate of 0. */
  until?: number;
  /** What the operator or a nack said of a cooldown. */
  note?: string;
  /** Lanes of the queue that stand in its line. */
  lanes: number;
}

/** One for each moment, oldest first; null where the queue was not known yet. */
export type Points = (number | null)[];

export interface OverviewItem {
  name: string;
  stats: Omit<QueueStats, "name" | "perTier">;
  /** A second. */
  inRate: number;
  outRate: number;
  failureRate: number;
  /** Jobs in its dead letter queue. */
  deadLetters: number;
  dlq?: string;
  /** It is the dead letter queue of another. */
  isDeadLetters?: true;
  oldestAt?: number;
  standing?: Standing;
  sparks?: Record<"waiting" | "in" | "out" | "failures", Points>;
}

export interface Overview {
  at: number;
  tick: number;
  /** Queues that match. */
  total: number;
  /** Of all queues that the caller may see, whatever was searched for. */
  totals: {
    queues: number;
    /** Queues that do not move although they should. */
    attention: number;
    waiting: number;
    running: number;
    inRate: number;
    outRate: number;
  };
  items: OverviewItem[];
  cursor?: string;
  /** In a cluster: partitions that did not answer, whose part is not in it. */
  missing?: readonly number[];
}

/** What is kept of a queue at each moment; rates are a second, times are milliseconds. */
export type SeriesName = "waiting" | "in" | "out" | "failures" | "waitP50" | "waitP99";

export interface QueueHistory {
  every: number;
  /** Milliseconds since 1970, one for each point. */
  times: number[];
  series: Record<SeriesName, Points>;
}

/** A job as a list or its own address shows it: bytes as JSON where they are JSON. */
export interface JobJson extends Omit<JobInfo, "payload" | "result"> {
  payload?: unknown;
  payloadBase64?: string;
  payloadBytes: number;
  /** Instead of a payload that is longer than what was asked for: how it begins. */
  payloadStart?: string;
  payloadStartBase64?: string;
  result?: unknown;
  resultBase64?: string;
  resultBytes?: number;
  resultStart?: string;
  resultStartBase64?: string;
}

export interface JobsJson {
  items: JobJson[];
  cursor?: string;
  /** Jobs that a search has looked at. */
  looked?: number;
}

/** A flow as a page draws it: the jobs around one job, and who waits for whom. */
export interface FlowGraph {
  nodes: FlowNode[];
  edges: FlowEdge[];
  /** There are more jobs than are answered. */
  isCut: boolean;
}

export interface FlowNode {
  id: string;
  /** Absent when the job went with its queue, or when the caller may not see it. */
  queue?: string;
  state: JobState;
  error?: string;
}

export interface FlowEdge {
  /** The job that is waited for. */
  from: string;
  to: string;
  onDependencyFailure: OnDependencyFailure;
}

/** What an app shows of itself on the dashboard, and what can be done there. */
export interface AppView {
  sections: AppSection[];
  actions?: AppAction[];
}

export type AppTone = "good" | "warn" | "bad";

/**
 * A text, a figure, a moment in milliseconds since 1970 (shown in the reader's zone), a size, what
 * is used of a limit, or a link: an address below the page's own, an http address or a magnet.
 */
export type AppValue =
  | string
  | number
  | { at: number }
  | { bytes: number }
  | { used: number; limit: number }
  | { href: string; text: string };

export type AppSection =
  | {
      kind: "facts";
      title: string;
      facts: { label: string; value: AppValue; tone?: AppTone }[];
    }
  | {
      kind: "table";
      title: string;
      columns: string[];
      rows: AppValue[][];
      /** The reader can sort by each column, and filter the rows. */
      isSortable?: boolean;
      /** What can be done with each row, in the order of the rows. */
      rowActions?: AppRowAction[][];
    }
  | {
      kind: "chart";
      title: string;
      unit?: string;
      series: { label: string; points: [timeMs: number, value: number][] }[];
    }
  /** An action of the view as a form on the page itself. */
  | { kind: "form"; title: string; action: string }
  | { kind: "timeline"; title: string; from: number; to: number; rows: AppTimeline[] };

/** Times are milliseconds since 1970; what lies outside the section's range is not drawn. */
export interface AppTimeline {
  label: string;
  /** What the row shows, in words. */
  text: string;
  spans: { from: number; to: number; text: string; tone?: AppTone }[];
  marks: { at: number; text: string; tone?: AppTone }[];
}

/** One of the view's actions for a row: fields of these names are filled in, others are sent. */
export interface AppRowAction {
  action: string;
  label: string;
  values: Record<string, string>;
}

export interface AppField {
  name: string;
  label: string;
  value?: string;
  hint?: string;
  /** Absent: any text. */
  options?: { value: string; label: string }[];
}

export interface AppAction {
  name: string;
  title: string;
  /** Asked before it is done. */
  confirm?: string;
  fields?: AppField[];
  /** On the button that does it. Default "Do it". */
  verb?: string;
  /** It is offered by rows or by a form, not above the page. */
  isInPlace?: boolean;
}

/** What an action answers: a sentence, and what the page shows for this reader from now on. */
export interface AppDone {
  message: string;
  show?: string;
}

export interface AppJson {
  name: string;
  title: string;
  view: AppView;
}
