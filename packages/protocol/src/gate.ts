import type { GatePart } from "./job.ts";

/** The limits of a gate. Each part is optional; a job passes when all parts of all its gates do. */
export interface GateConfig {
  /** Tokens per second; 0 closes the gate. */
  rate?: number | undefined;
  /** Default max(1, rate). */
  burst?: number | undefined;
  interval?:
    | {
        ms: number;
        /** From the previous job's start, or from its end (then one at a time). Default `end`. */
        from?: "start" | "end" | undefined;
        /** Multiplier per tier; a tier beyond the list uses the last. */
        factors?: readonly number[] | undefined;
        /** No tier waits less than this. */
        floorMs?: number | undefined;
      }
    | undefined;
  windows?: readonly { limit: number; perMs: number }[] | undefined;
  concurrency?: number | undefined;
  /** Cooldown per failure in a row; a success steps back by one. */
  ladder?: readonly number[] | undefined;
}

export interface GateInfo {
  key: string;
  config: GateConfig | undefined;
  /** The pattern that configured it, when it is not its own key. */
  pattern: string | undefined;
  tokens: number | undefined;
  windows: readonly { limit: number; perMs: number; used: number }[];
  inFlight: number;
  ladderStep: number;
  cooldown: { until: number; reason: string } | undefined;
  /** When a job of cost 1 and tier 0 would pass; undefined: when something is released. */
  opensAt: number | undefined;
  /**
   * By tier, the last standing for all beyond: when rate, interval, windows and cooldown open for a
   * job of cost 1, whatever runs meanwhile. null: not by themselves, at a rate of 0.
   */
  opensAtByTier: readonly (number | null)[];
  /** The part that keeps such a job now; undefined: none does. */
  part: GatePart | undefined;
  waitingLanes: number;
  /** Whose lanes they are; of a path, its first level counts as one. */
  line: readonly { queue: string; tier: number; lanes: number }[];
  /** In a cluster: partitions that did not answer, whose jobs and lanes are not counted. */
  missing?: readonly number[];
}
