import type { StreamInfo } from "@nats-io/jetstream";
import type { Batch, Position } from "../log.ts";
import type { BatchReader } from "../messages/batch-reader.ts";
import { logFailed, streamDamaged } from "./errors.ts";
import { Feed } from "./feed.ts";
import type { NatsStream, StoredMessage } from "./nats-stream.ts";
import type { NatsSettings } from "./options.ts";

/**
 * All batches from the stream's first message up to the one that `isLast` calls the last. Calls
 * `onRead` for each message of any kind.
 */
export async function* replayStream(
  settings: NatsSettings,
  stream: NatsStream,
  reader: BatchReader,
  isLast: (sequence: Position) => boolean | Promise<boolean>,
  onRead: (message: StoredMessage) => void,
): AsyncGenerator<Batch, void, undefined> {
  const { state } = await stream.info();
  const first = Math.max(state.first_seq, 1);
  if (await isLast(first - 1)) return;
  const feed = new Feed(settings, stream, first);
  let expected = first;
  try {
    for (;;) {
      const message = await feed.next();
      const { sequence, data, storedAt } = message;
      if (sequence !== expected) checkGap(await stream.info(), first, expected, sequence);
      expected = sequence + 1;
      const batch = reader.take(sequence, data);
      onRead(message);
      if (batch !== undefined) yield { ...batch, storedAt };
      if (await isLast(sequence)) return;
    }
  } finally {
    await feed.close();
  }
}

/** Only a trim makes a gap, and only at the beginning. */
function checkGap(info: StreamInfo, first: Position, expected: Position, found: Position): void {
  const { name } = info.config;
  const count = found - expected;
  if (count < 0 || info.state.first_seq < found) {
    throw streamDamaged(
      name,
      expected,
      count === 1 ? "1 message is missing" : `${count} messages are missing`,
    );
  }
  if (expected === first) return;
  const reason = `its former owner has trimmed ${count} messages meanwhile: open it again`;
  throw logFailed(name, "replaying", reason);
}
