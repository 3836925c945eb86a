import { randomBytes } from "node:crypto";
import type { Log } from "@sluice/log";
import {
  type BrokerLimits,
  type BrokerSettings,
  type Clock,
  invalid,
  parseBroker,
  type SluiceError,
} from "@sluice/protocol";
import { type FeatureLevel, OWN_LEVEL } from "./features.ts";
import type { Homes } from "./lending/port.ts";
import { CHUNK_BYTES_MAX, CHUNK_BYTES_MIN, LEASE_SECRET_BYTES } from "./limits.ts";
import type { RecoveryProgress } from "./recovery.ts";

/** The options for opening a broker. */
export interface OpenOptions extends BrokerSettings {
  /** Where facts go; it must not have been replayed. */
  log: Log;
  clock?: Clock;
  /** Varies the jitter of retries. */
  seed?: number;
  /** Seals the tokens of leases in a log that has no secret yet; absent: random bytes. */
  leaseSecret?: Uint8Array;
  /**
   * The log is an older copy of one that was used since: ids, leases and lots that were given since
   * are not given again.
   */
  isRestored?: boolean;
  /** Reserve address space for millions of jobs now: no stall when the tables grow. */
  reserve?: boolean;
  /** What all readers of the log understand; absent: no other readers, so all of this release. */
  level?: FeatureLevel;
  /** Other partitions that have the same gates; absent: this broker has them alone. */
  homes?: Homes;
  onProgress?: (progress: RecoveryProgress) => void;
  /** The log has failed: nothing more is confirmed. */
  onFailure?: (error: SluiceError) => void;
}

export interface BrokerOptions extends BrokerLimits {
  seed: number;
  leaseSecret: Uint8Array;
  isRestored: boolean;
  reserve: boolean;
  level: FeatureLevel;
  homes: Homes | undefined;
  onProgress: OpenOptions["onProgress"];
  onFailure: OpenOptions["onFailure"];
}

const SPANS_PER_SEGMENT = 8;

export function parseOptions(options: OpenOptions): BrokerOptions {
  return {
    ...parseBroker("open", options),
    seed: options.seed ?? 0,
    leaseSecret: secret(options.leaseSecret),
    isRestored: options.isRestored ?? false,
    reserve: options.reserve ?? false,
    level: options.level ?? OWN_LEVEL,
    homes: options.homes,
    onProgress: options.onProgress,
    onFailure: options.onFailure,
  };
}

/** What the log forgets at once: see the proof in `cleaner.ts`, which needs an eighth. */
export function spanBytesOf({ segmentBytes }: BrokerOptions): number {
  return Math.ceil(segmentBytes / SPANS_PER_SEGMENT);
}

/** A chunk is counted where it begins: it must be a small part of a segment. */
export function chunkBytesOf({ segmentBytes }: BrokerOptions): number {
  return Math.min(CHUNK_BYTES_MAX, Math.max(CHUNK_BYTES_MIN, Math.ceil(segmentBytes / 64)));
}

function secret(given: Uint8Array | undefined): Uint8Array {
  if (given === undefined) return randomBytes(LEASE_SECRET_BYTES);
  if (given instanceof Uint8Array && given.length === LEASE_SECRET_BYTES) return given;
  throw invalid("leaseSecret", `${LEASE_SECRET_BYTES} bytes`, given);
}
