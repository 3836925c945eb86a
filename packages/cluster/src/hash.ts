/**
 * Which partition holds what. Every node and every client must come to the same answer, so there is
 * one function, and it never changes: FNV-1a, 32 bits, over UTF-8.
 */
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;
const DLQ_SUFFIX = ".dlq";

const encoder = new TextEncoder();

export function hashOf(text: string): number {
  let hash = OFFSET;
  for (const byte of encoder.encode(text)) hash = Math.imul(hash ^ byte, PRIME);
  return hash >>> 0;
}

/**
 * The partition of a queue that was not placed elsewhere. The default dead letter queue of a queue
 * is in the same partition, because jobs stay where they die.
 */
export function homeOfQueue(queue: string, partitions: number): number {
  const name = queue.endsWith(DLQ_SUFFIX) ? queue.slice(0, -DLQ_SUFFIX.length) : queue;
  return hashOf(name) % partitions;
}

export function homeOfStore(store: string, partitions: number): number {
  return hashOf(`store:${store}`) % partitions;
}

export function homeOfGate(key: string, partitions: number): number {
  return hashOf(`gate:${key}`) % partitions;
}
