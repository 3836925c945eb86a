/**
 * What some keys of a bucket hold, and then what changes, by a consumer that the library makes
 * again where it was when a server is gone. That one has died without a word is for the caller to
 * notice: what it writes itself must come back.
 */
import { DeliverPolicy, type JetStreamClient, type JsMsg } from "@nats-io/jetstream";
import type { WatchedEntry } from "./registry.ts";

export interface NatsWatchOptions {
  readonly client: JetStreamClient;
  readonly bucket: string;
  /** Keys, and beginnings of keys that end with a dot. */
  readonly keys: readonly string[];
  readonly onEntry: (entry: WatchedEntry) => void;
}

export const OPERATION = "KV-Operation";
export const DELETED: readonly string[] = ["DEL", "PURGE"];

/** Resolves with what ends it when all that is there was passed on. */
export async function watchBucket(options: NatsWatchOptions): Promise<() => void> {
  const { client, bucket, keys, onEntry } = options;
  const before = `$KV.${bucket}.`;
  const consumer = await client.consumers.getPushConsumer(`KV_${bucket}`, {
    deliver_policy: DeliverPolicy.LastPerSubject,
    filter_subjects: keys.map((key) => before + (key.endsWith(".") ? `${key}>` : key)),
  });
  const { num_pending: pending } = await consumer.info(true);
  const { promise: listed, resolve } = Promise.withResolvers<void>();
  /** The revision of each key that was reported last: a new consumer does not go back. */
  const told = new Map<string, number>();
  let count = 0;
  let isOver = false;
  const hear = ({ subject, seq, headers }: JsMsg, text: string): void => {
    const key = subject.slice(before.length);
    if (isOver || seq <= (told.get(key) ?? 0)) return;
    told.set(key, seq);
    const isDeleted = DELETED.includes(headers?.get(OPERATION) ?? "");
    onEntry({ key, value: isDeleted ? undefined : text, revision: seq });
  };
  const messages = await consumer.consume({
    callback: (message) => {
      hear(message, message.string());
      if (++count >= pending) resolve();
    },
  });
  if (pending === 0) resolve();
  const ended = messages.closed().then(() => {});
  await Promise.race([listed, ended]);
  return () => {
    isOver = true;
    messages.stop();
  };
}
