import assert from "node:assert/strict";
import { test } from "node:test";
import type { JetStreamClient, JetStreamManager, JsMsg } from "@nats-io/jetstream";
import type { headers } from "@nats-io/transport-node";
import { NatsWatch } from "./nats-watch.ts";
import type { WatchedEntry } from "./registry.ts";

const BEFORE = "$KV.nodes.";

interface Stored {
  readonly subject: string;
  readonly text: string;
  readonly seq: number;
  readonly head: ReturnType<typeof headers> | undefined;
}

/** A fake of JetStream: a leader, and replicas that count otherwise by so much, one a consumer. */
class FakeBucket {
  readonly last = new Map<string, Stored>();
  readonly told: WatchedEntry[] = [];
  readonly watch: NatsWatch;
  readonly #aheads: number[];
  #sequence = 0;
  #consumers = 0;
  #deliver: (stored: Stored) => void = () => {};

  constructor(aheads: readonly number[]) {
    this.#aheads = [...aheads];
    const client = {
      consumers: { getPushConsumer: async () => this.#consumer() },
      publish: async (subject: string, text: string, { headers: head }: { headers: Head }) => {
        return { seq: this.write(subject.slice(BEFORE.length), text, true, head) };
      },
    };
    const streams = {
      info: async () => ({
        state: { last_seq: this.#sequence, subjects: Object.fromEntries([...this.last]) },
      }),
      getMessage: async (_: string, { last_by_subj }: { last_by_subj: string }) => {
        const { seq, text, head } = this.last.get(last_by_subj)!;
        return { seq, header: head, string: () => text };
      },
    };
    this.watch = new NatsWatch({
      client: client as unknown as JetStreamClient,
      manager: { streams } as unknown as JetStreamManager,
      bucket: "nodes",
      onEntry: (entry) => this.told.push(entry),
    });
  }

  get consumers(): number {
    return this.#consumers;
  }

  write(key: string, text: string, isTold = true, head?: Head): number {
    const stored = { subject: BEFORE + key, text, seq: ++this.#sequence, head };
    this.last.set(stored.subject, stored);
    if (isTold) this.#deliver(stored);
    return stored.seq;
  }

  #consumer(): unknown {
    const name = `consumer ${++this.#consumers}`;
    const ahead = this.#aheads.shift() ?? 0;
    return {
      consume: async ({ callback }: { callback: (message: JsMsg) => void }) => {
        this.#deliver = ({ subject, text, seq, head }) => {
          const info = { consumer: name };
          const message = { subject, seq: seq + ahead, headers: head, info, string: () => text };
          callback(message as unknown as JsMsg);
        };
        return { stop: () => {} };
      },
    };
  }
}

type Head = ReturnType<typeof headers>;

async function until(holds: () => boolean): Promise<void> {
  const endAt = performance.now() + 5000;
  while (!holds() && performance.now() < endAt) await new Promise((resolve) => setTimeout(resolve));
  assert.ok(holds());
}

test("what a server tells that counts otherwise than the leader is not told", async () => {
  const bucket = new FakeBucket([20, -3, 0]);
  bucket.write("owner.1", "a");
  await bucket.watch.open();
  assert.equal(bucket.consumers, 3);
  const revision = bucket.write("owner.1", "b");
  assert.deepEqual(bucket.told, [
    { key: "owner.1", value: "a", revision: 1 },
    { key: "owner.1", value: "b", revision },
  ]);
  bucket.watch.stop();
});

test("what a consumer leaves out is read from the leader", async () => {
  const bucket = new FakeBucket([]);
  bucket.write("owner.1", "a");
  await bucket.watch.open();
  bucket.write("owner.1", "b", false);
  bucket.write("node.a", "1");
  await until(() => bucket.told.some(({ value }) => value === "b"));
  assert.equal(bucket.consumers, 2);
  bucket.watch.stop();
  bucket.write("node.a", "2");
  assert.ok(!bucket.told.some(({ value }) => value === "2"));
});

test("gaps without end are looked into ever less often", async () => {
  const bucket = new FakeBucket([]);
  await bucket.watch.open();
  const endAt = performance.now() + 700;
  while (performance.now() < endAt) {
    bucket.write("node.a", "1", false);
    bucket.write("node.b", "1");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  // After 50 ms, and 100, 200 and 400 more.
  assert.ok(bucket.consumers >= 2 && bucket.consumers <= 5, `${bucket.consumers} consumers`);
  bucket.watch.stop();
});
