import { randomBytes } from "node:crypto";
import type { Log } from "@sluice/log";
import { type Clock, invalid, type SluiceError } from "@sluice/protocol";
import type { Homes } from "./lending/port.ts";
import {
  CHUNK_BYTES_MAX,
  CHUNK_BYTES_MIN,
  COOLDOWN_MS_DEFAULT,
  LEASE_SECRET_BYTES,
  PAYLOAD_BYTES_DEFAULT,
  PAYLOAD_BYTES_MAX,
  PAYLOAD_MEMORY_BYTES_DEFAULT,
  QUEUES_MAX_DEFAULT,
  UNSYNCED_BYTES_MAX,
} from "./limits.ts";
import { DURATION_MS_MAX } from "./policy/limits.ts";
import type { RecoveryProgress } from "./recovery.ts";

/** What a broker is told when it is opened. */
export interface OpenOptions {
  /** Where facts go; it must not have been replayed. */
  log: Log;
  clock?: Clock;
  /** How much the log may hold beyond twice the live data. Its files are an eighth of this. */
  segmentBytes?: number;
  payloadBytesMax?: number;
  /** Memory for payloads; those beyond it are read back from the log when their job goes out. */
  payloadMemoryBytes?: number;
  /** The longest cooldown of a gate that a nack can ask for; longer ones are cut. Default 1 h. */
  cooldownMaxMs?: number;
  /** Facts that may be written before the log has them; then adds wait. */
  unsyncedBytesMax?: number;
  /** Queues that may be made; each takes about 10 kB of memory. */
  queuesMax?: number;
  /** Varies the jitter of retries. */
  seed?: number;
  /** Seals the tokens of leases in a log that has no secret yet; absent: random bytes. */
  leaseSecret?: Uint8Array;
  /** Reserve address space for millions of jobs now: no stall when the tables grow. */
  reserve?: boolean;
  /** Other partitions that have the same gates; absent: this broker has them alone. */
  homes?: Homes;
  onProgress?: (progress: RecoveryProgress) => void;
  /** The log has failed: nothing more is confirmed. */
  onFailure?: (error: SluiceError) => void;
}

export interface BrokerOptions {
  segmentBytes: number;
  payloadBytesMax: number;
  payloadMemoryBytes: number;
  cooldownMaxMs: number;
  unsyncedBytesMax: number;
  queuesMax: number;
  seed: number;
  leaseSecret: Uint8Array;
  reserve: boolean;
  homes: Homes | undefined;
  onProgress: OpenOptions["onProgress"];
  onFailure: OpenOptions["onFailure"];
}

const SEGMENT_BYTES_DEFAULT = 64 * 1024 * 1024;
const SPANS_PER_SEGMENT = 8;

export function parseOptions(options: OpenOptions): BrokerOptions {
  return {
    segmentBytes: bytes("segmentBytes", options.segmentBytes, SEGMENT_BYTES_DEFAULT),
    payloadBytesMax: bytes(
      "payloadBytesMax",
      options.payloadBytesMax,
      PAYLOAD_BYTES_DEFAULT,
      PAYLOAD_BYTES_MAX,
    ),
    payloadMemoryBytes: bytes(
      "payloadMemoryBytes",
      options.payloadMemoryBytes,
      PAYLOAD_MEMORY_BYTES_DEFAULT,
    ),
    cooldownMaxMs: cooldownMax(options.cooldownMaxMs),
    unsyncedBytesMax: bytes("unsyncedBytesMax", options.unsyncedBytesMax, UNSYNCED_BYTES_MAX),
    queuesMax: count("queuesMax", options.queuesMax, QUEUES_MAX_DEFAULT),
    seed: options.seed ?? 0,
    leaseSecret: secret(options.leaseSecret),
    reserve: options.reserve ?? false,
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

function cooldownMax(value: number = COOLDOWN_MS_DEFAULT): number {
  if (Number.isSafeInteger(value) && value >= 0 && value <= DURATION_MS_MAX) return value;
  throw invalid("cooldownMaxMs", `milliseconds from 0 to ${DURATION_MS_MAX}`, value);
}

function count(field: string, value: number | undefined, absent: number): number {
  if (value === undefined) return absent;
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw invalid(field, "a number from 1 on", value);
}

function bytes(
  field: string,
  value: number | undefined,
  absent: number,
  max = Number.MAX_SAFE_INTEGER,
): number {
  if (value === undefined) return absent;
  if (!Number.isSafeInteger(value) || value < 1 || value > max) {
    throw invalid(field, `a number of bytes from 1 to ${max}`, value);
  }
  return value;
}
