/** How long things took, in buckets by powers of two. */
export interface TimeCounts {
  /** How many took up to `2^i` ms and longer than the bucket before; the last has no end. */
  counts: readonly number[];
  sumMs: number;
}

/** How a broker is doing. Times and counts are those since it was opened. */
export interface BrokerStats {
  /** Payloads in memory. */
  payloadBytes: number;
  /** What lives in the log. */
  liveBytes: number;
  logBytes: number;
  /** Written and not yet durable. */
  unsyncedBytes: number;
  /** How long the log has been at work on what it was given; 0 when it is idle. */
  unsyncedMs: number;
  /** How long something that could be done has been left undone; 0 when there is nothing. */
  overdueMs: number;
  /** From a call that adds jobs to the answer. */
  adds: TimeCounts;
  /** For the queues that were asked for and exist. */
  queues: readonly QueueTimes[];
  /** In a cluster: partitions that did not answer, whose part is not in it. Absent: none. */
  missing?: readonly number[];
}

export interface QueueTimes {
  name: string;
  /** From when a job could have gone out to when it did. */
  wait: TimeCounts;
  /** From when it went out to its ack or nack. */
  run: TimeCounts;
  /**
   * The job that was added first among those that wait, and when the first of those that are
   * delayed is due; as of some seconds ago at most. Absent when there is none or nobody asked.
   */
  oldest?: { id: string; addedAt: number };
  nextDueAt?: number;
}
