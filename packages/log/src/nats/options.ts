import type { NatsConnection } from "@nats-io/transport-node";
import { checkInteger, invalid, REPLICAS_MAX } from "@sluice/protocol";
import {
  ACK_WAIT_MS,
  ACK_WAIT_MS_MIN,
  DUPLICATE_WINDOW_MS,
  NATS_DEADLINE_MS,
  READ_CACHE_BYTES,
  READ_CACHE_BYTES_MAX,
  SEGMENT_BYTES,
  SEGMENT_BYTES_MAX,
  SEGMENT_BYTES_MIN,
} from "../limits.ts";
import type { Anchor } from "../log.ts";

export interface NatsLogOptions {
  /** Stays the caller's: closing the log does not close it. Several logs may share one. */
  readonly connection: NatsConnection;
  /** The stream's name. One log has it alone. */
  readonly stream: string;
  /** Whether it is made when it does not exist; it is by default. */
  readonly create?: boolean;
  /** The one subject of the stream; `sluice.log.` and its name. */
  readonly subject?: string;
  /** Copies that a new stream gets: 3 in a cluster of servers, 1 with a single one. */
  readonly replicas?: number;
  /** What a new stream may hold, which its servers reserve; without it there is no bound. */
  readonly storageBytes?: number | undefined;
  /** What an earlier owner has noted: a stream that lacks it is refused as damaged. */
  readonly anchor?: Anchor | undefined;
  /** Where a span ends and the next begins; 64 MiB. */
  readonly segmentBytes?: number;
  /** Memory for `read`; 8 MiB. */
  readonly readCacheBytes?: number;
  /** How long nothing may be confirmed before the log fails; 30 s. */
  readonly deadlineMs?: number;
  /** How long one attempt waits for its answer; 2 s. */
  readonly ackWaitMs?: number;
}

export type NatsSettings = Required<Omit<NatsLogOptions, "anchor" | "storageBytes">> &
  Pick<NatsLogOptions, "anchor" | "storageBytes">;

/** Copies by which one server can be lost. */
const REPLICAS_IN_CLUSTER = 3;

export function parseNatsOptions(options: NatsLogOptions): NatsSettings {
  const { connection, stream, create = true, anchor, storageBytes } = options;
  const { subject = `sluice.log.${stream}`, replicas = defaultReplicas(connection) } = options;
  const { segmentBytes = SEGMENT_BYTES, readCacheBytes = READ_CACHE_BYTES } = options;
  const { deadlineMs = NATS_DEADLINE_MS, ackWaitMs = ACK_WAIT_MS } = options;
  if (typeof stream !== "string" || !/^[\w-]{1,255}$/.test(stream)) {
    throw invalid("stream", "a name of letters, digits, - and _", stream);
  }
  if (typeof subject !== "string" || !/^[\w-]+(\.[\w-]+)*$/.test(subject)) {
    throw invalid("subject", "a subject without wildcards", subject);
  }
  checkInteger("replicas", replicas, 1, REPLICAS_MAX);
  checkInteger("segmentBytes", segmentBytes, SEGMENT_BYTES_MIN, SEGMENT_BYTES_MAX);
  checkInteger("readCacheBytes", readCacheBytes, 0, READ_CACHE_BYTES_MAX);
  // Beyond the window the server cannot detect an append that was made twice.
  checkInteger("deadlineMs", deadlineMs, ACK_WAIT_MS_MIN, DUPLICATE_WINDOW_MS / 2);
  checkInteger("ackWaitMs", ackWaitMs, ACK_WAIT_MS_MIN, deadlineMs);
  return {
    ...{ connection, stream, create, anchor, subject, replicas, storageBytes },
    ...{ segmentBytes, readCacheBytes, deadlineMs, ackWaitMs },
  };
}

/** Of a new stream. */
export function defaultReplicas({ info }: NatsConnection): number {
  return info?.cluster === undefined ? 1 : REPLICAS_IN_CLUSTER;
}
