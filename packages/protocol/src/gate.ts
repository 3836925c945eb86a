import type { GateStats } from "@sluice/engine";
import type { GateSettings } from "./options/gate-options.ts";

export interface GateInfo extends Omit<GateStats, "config" | "windows"> {
  config: GateSettings | undefined;
  windows: readonly { limit: number; per: number; used: number }[];
  /** Whose lanes they are; of a path, its first level counts as one. */
  line: readonly { queue: string; tier: number; lanes: number }[];
  /** In a cluster: partitions that did not answer, whose jobs and lanes are not counted. */
  missing?: readonly number[];
}
