import assert from "node:assert/strict";
import { test } from "node:test";
import type { NatsConnection } from "@nats-io/transport-node";
import type { NatsStream } from "./nats-stream.ts";
import { parseNatsOptions } from "./options.ts";
import { Pipeline } from "./pipeline.ts";

/** A connection that tells what is subscribed to, and answers nothing. */
function connectionWith(options: { inboxPrefix?: string }, subjects: string[]): NatsConnection {
  const connection = {
    options,
    status: async function* () {},
    getServer: () => "nats://model",
    closed: () => new Promise(() => {}),
    isClosed: () => false,
    subscribe: (subject: string) => {
      subjects.push(subject);
      return { unsubscribe: () => {} };
    },
  };
  return connection as unknown as NatsConnection;
}

test("answers use the inbox prefix of the connection", () => {
  for (const [options, prefix] of [
    [{}, "_INBOX."],
    [{ inboxPrefix: "_INBOX_sluice.of" }, "_INBOX_sluice.of."],
  ] as const) {
    const subjects: string[] = [];
    const connection = connectionWith(options, subjects);
    const settings = parseNatsOptions({ connection, stream: "one", replicas: 1 });
    const pipeline = new Pipeline(settings, {} as NatsStream, "owner", 0);
    assert.equal(subjects.length, 1);
    assert.ok(subjects[0]!.startsWith(prefix), subjects[0]);
    pipeline.close();
  }
});
