// The one writer of a stream, on a model of a server and of the network before it: messages and
// answers are lost or late, and the stream has no leader for a while.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { headers, type Msg, type NatsConnection } from "@nats-io/transport-node";
import fc from "fast-check";
import { parseNatsOptions } from "./options.ts";
import { Pipeline } from "./pipeline.ts";
import type { Stream } from "./stream.ts";

const WRONG_LAST_SEQUENCE = { code: 400, err_code: 10_071, description: "wrong last sequence" };
const ACK_WAIT_MS = 500;
/** More than the longest pause and a round that is not answered. */
const HEALED_MS = 10_000;

interface Sent {
  readonly bytes: Uint8Array;
  readonly last: number;
  readonly id: string;
  readonly reply: string;
}

type Hear = (error: null, message: Msg) => void;

/** A server with one stream; what it is sent and what it answers stands in the network at first. */
class World {
  readonly stored: Uint8Array[] = [];
  readonly network: (() => void)[] = [];
  readonly pipeline: Pipeline;
  readonly told: number[] = [];
  hasLeader = true;
  readonly #ids = new Map<string, number>();
  #hear: Hear = () => {};
  asked = 0;

  constructor() {
    const connection = {
      options: {},
      status: async function* () {},
      closed: () => new Promise(() => {}),
      isClosed: () => false,
      subscribe: (_: string, { callback }: { callback: Hear }) => {
        this.#hear = callback;
        return { unsubscribe: () => {} };
      },
      publish: (_: string, bytes: Uint8Array, { headers: head, reply }: PublishOptions) => {
        const last = Number(head.get("Nats-Expected-Last-Sequence"));
        this.#receive({ bytes, last, id: head.get("Nats-Msg-Id"), reply });
      },
    };
    const settings = parseNatsOptions({
      connection: connection as unknown as NatsConnection,
      stream: "model",
      replicas: 1,
      ackWaitMs: ACK_WAIT_MS,
    });
    const stream = { name: "model", readFromLeader: (at: number) => this.#read(at) };
    this.pipeline = new Pipeline(settings, stream as unknown as Stream, "owner", 0);
  }

  put(): void {
    const count = this.asked++;
    const resolve = (): void => void this.told.push(count);
    const reject = (error: Error): void => assert.fail(error.message);
    this.pipeline.put(Buffer.from(`message ${count}`), { resolve, reject });
  }

  #receive(sent: Sent): void {
    if (!this.hasLeader) {
      const head = headers(503, "No Responders");
      return void this.network.push(() => this.#answer(sent.reply, {}, head));
    }
    this.network.push(() => this.#store(sent));
  }

  #store({ bytes, last, id, reply }: Sent): void {
    const known = this.#ids.get(id);
    if (known !== undefined) return this.#later(reply, { seq: known, duplicate: true });
    if (last !== this.stored.length) return this.#later(reply, { error: WRONG_LAST_SEQUENCE });
    this.stored.push(bytes);
    this.#ids.set(id, this.stored.length);
    this.#later(reply, { seq: this.stored.length });
  }

  #later(reply: string, answer: object): void {
    this.network.push(() => this.#answer(reply, answer));
  }

  #answer(subject: string, answer: object, head?: ReturnType<typeof headers>): void {
    this.#hear(null, { subject, headers: head, json: () => answer } as unknown as Msg);
  }

  async #read(at: number): Promise<Uint8Array | undefined> {
    if (!this.hasLeader) throw new Error("no leader");
    return this.stored[at - 1];
  }

  /** What stands in the network arrives, or is lost. */
  move(index: number, isLost: boolean): void {
    if (this.network.length === 0) return;
    const [arrive] = this.network.splice(index % this.network.length, 1);
    if (!isLost) arrive!();
  }

  async pass(clock: { nowMs: number }, ms: number): Promise<void> {
    clock.nowMs += ms;
    mock.timers.tick(ms);
    await settle();
  }
}

interface PublishOptions {
  readonly headers: ReturnType<typeof headers>;
  readonly reply: string;
}

/** All that is due at once, and what follows from it. */
async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

type Step =
  | { act: "put" }
  | { act: "leader"; isThere: boolean }
  | { act: "pass"; ms: number }
  | { act: "move"; index: number; isLost: boolean };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>({ act: "put" }) },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constant("leader" as const), isThere: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant("pass" as const), ms: fc.constantFrom(1, 60, 600) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      act: fc.constant("move" as const),
      // Mostly in order.
      index: fc.oneof(fc.constant(0), fc.constant(0), fc.nat(20)),
      isLost: fc.oneof(fc.constant(false), fc.constant(false), fc.boolean()),
    }),
  },
);

async function act(world: World, one: Step, clock: { nowMs: number }): Promise<void> {
  if (one.act === "put") world.put();
  else if (one.act === "leader") world.hasLeader = one.isThere;
  else if (one.act === "move") world.move(one.index, one.isLost);
  else await world.pass(clock, one.ms);
  await settle();
}

async function run(steps: readonly Step[]): Promise<void> {
  const clock = { nowMs: 0 };
  mock.timers.enable({ apis: ["setTimeout"] });
  mock.method(performance, "now", () => clock.nowMs);
  try {
    const world = new World();
    for (const one of steps) await act(world, one, clock);
    world.hasLeader = true;
    world.put();
    await settle();
    for (let passedMs = 0; passedMs < HEALED_MS; passedMs += 50) {
      while (world.network.length > 0) {
        world.move(0, false);
        await settle();
      }
      await world.pass(clock, 50);
    }
    const all = Array.from({ length: world.asked }, (_, count) => count);
    assert.deepEqual(world.told, all);
    const stored = world.stored.map((bytes) => Buffer.from(bytes).toString());
    assert.deepEqual(
      stored,
      all.map((count) => `message ${count}`),
    );
    world.pipeline.close();
  } finally {
    mock.reset();
    mock.timers.reset();
  }
}

test("whatever happened before, all is stored once and in order when the server is back", async () => {
  // Too short for the deadline to pass.
  const lives = fc.array(step, { minLength: 1, maxLength: 45 });
  await fc.assert(fc.asyncProperty(lives, run), { numRuns: 500 });
});
