// Waiting jobs of one lane with the same gates.

import type { JobRecord } from "@sluice/engine";

export interface WaitingJob extends JobRecord {
  readonly strand: string;
}

export function strandOf({ queue, tier, path, gates }: JobRecord): string {
  return JSON.stringify([queue, tier, path, [...gates].sort()]);
}
