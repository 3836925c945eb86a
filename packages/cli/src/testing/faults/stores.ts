// What NATS servers have on their disks, read message by message from the block files of their
// streams, without any server in between.

import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const HEAD_BYTES = 22;
const CHECKSUM_BYTES = 8;
const HAS_HEADERS = 1 << 31;
// In the sequence: the message was erased, or is a mark of one that was.
const ERASED = 1n << 63n;
const TOMBSTONE = 1n << 62n;

export interface StoreDifference {
  readonly stream: string;
  readonly sequence: number;
  // By server; undefined: it has none.
  readonly found: readonly (string | undefined)[];
}

type Messages = ReadonlyMap<number, string>;

// Streams whose name begins so, in a store directory.
function streamsIn(store: string, prefix: string): string[] {
  return globSync(join(store, "jetstream", "*", "streams", `${prefix}*`)).map((dir) =>
    basename(dir),
  );
}

// The messages of a stream by sequence, each as its bytes.
function readMessages(store: string, stream: string): Messages {
  const messages = new Map<number, string>();
  const files = globSync(join(store, "jetstream", "*", "streams", stream, "msgs", "*.blk"));
  for (const file of files) readBlock(readFileSync(file), messages);
  return messages;
}

function readBlock(bytes: Buffer, messages: Map<number, string>): void {
  let at = 0;
  while (at + HEAD_BYTES + CHECKSUM_BYTES <= bytes.length) {
    const length = (bytes.readUInt32LE(at) & ~HAS_HEADERS) >>> 0;
    if (length < HEAD_BYTES + CHECKSUM_BYTES || at + length > bytes.length) return;
    const sequence = bytes.readBigUInt64LE(at + 4);
    const isMessage = (sequence & (ERASED | TOMBSTONE)) === 0n && sequence !== 0n;
    // The checksum counts in the number of the block, which differs when a copy was made again.
    const end = at + length - CHECKSUM_BYTES;
    if (isMessage) messages.set(Number(sequence), bytes.toString("latin1", at, end));
    at += length;
  }
}

// Where the stores differ, of all streams whose names begin so. `firstOf` is the first sequence
// that was not trimmed: what is before it may be on some disks still.
export function compareStores(
  stores: readonly string[],
  prefix: string,
  firstOf: (stream: string) => number,
): { messages: number; differences: StoreDifference[] } {
  const streams = new Set(stores.flatMap((store) => streamsIn(store, prefix)));
  const differences: StoreDifference[] = [];
  let messages = 0;
  for (const stream of streams) {
    const found = stores.map((store) => readMessages(store, stream));
    const first = firstOf(stream);
    const all = new Set(found.flatMap((one) => [...one.keys()]));
    for (const sequence of [...all].sort((a, b) => a - b)) {
      if (sequence < first) continue;
      messages++;
      const each = found.map((one) => one.get(sequence));
      if (new Set(each).size > 1) differences.push({ stream, sequence, found: each });
    }
  }
  return { messages, differences };
}
