import type { GatePart } from "./job.ts";
import type { GateSettings } from "./options/gate-options.ts";

export interface GateInfo {
  key: string;
  config: GateSettings | undefined;
  /** The pattern that configured it, when it is not its own key. */
  pattern: string | undefined;
  tokens: number | undefined;
  windows: readonly { limit: number; per: number; used: number }[];
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
