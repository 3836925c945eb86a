// Calls to a server that is away, or that does not answer.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { type TestContext, test } from "node:test";
import { type LocalBroker, openBroker } from "@sluice/broker";
import { LinkFeed, SluiceHandles } from "@sluice/client";
import { connectBroker, type LinkEvent } from "@sluice/client/remote";
import { MemoryLog } from "@sluice/log";
import type { SluiceError } from "@sluice/protocol";
import { turningClock, turns, unattached } from "@sluice/protocol/testing";
import { type Served, serve } from "../testing/stream-server.ts";

const CALL_TIMEOUT_MS = 30_000;

const job = (text: string) => ({ payload: new TextEncoder().encode(text) });

class Scene {
  readonly clock = turningClock(3);
  readonly events: string[] = [];
  broker!: LocalBroker;
  client!: Awaited<ReturnType<typeof connectBroker>>;
  sluice!: SluiceHandles;
  #served!: Served;
  #heard: () => void = () => {};

  static async open(t: TestContext): Promise<Scene> {
    const scene = new Scene();
    scene.broker = await openBroker({ log: new MemoryLog() });
    await scene.broker.setQueue("q", {});
    scene.#served = await serve(scene.broker);
    const link = new LinkFeed();
    const onLink = (event: LinkEvent): void => {
      link.tell(event);
      scene.events.push(event.event);
      scene.#heard();
    };
    scene.client = await connectBroker(scene.#served.url, { clock: scene.clock, onLink });
    scene.sluice = new SluiceHandles({ port: scene.client, clock: unattached(scene.clock), link });
    t.after(async () => {
      await scene.sluice.close({ timeout: 0 });
      await scene.#served.close().catch(() => {});
      await scene.broker.close();
    });
    return scene;
  }

  get url(): string {
    return this.#served.url.replace("http", "ws");
  }

  async stopServer(): Promise<void> {
    const lost = this.#until("disconnected");
    await this.#served.close();
    await lost;
  }

  async startServer(): Promise<void> {
    this.#served = await serve(this.broker, {}, this.#served.port);
    const connected = this.#until("connected");
    let isUp = false;
    void connected.then(() => {
      isUp = true;
    });
    while (!isUp) await this.clock.advance(100);
  }

  #until(name: string): Promise<void> {
    const before = this.events.length;
    return new Promise((resolve) => {
      this.#heard = () => {
        if (this.events.slice(before).includes(name)) resolve();
      };
    });
  }

  async added(): Promise<number> {
    return (await this.broker.queue("q")).stats.added;
  }

  /** What a call rejects with when so much time has passed. */
  async failed(call: Promise<unknown>, ms = CALL_TIMEOUT_MS): Promise<SluiceError> {
    const answer = call.then(
      () => assert.fail("the call was answered"),
      (error) => error,
    );
    await this.clock.advance(ms);
    return answer;
  }

  /** The broker does what it is asked to and keeps its answers to adds. */
  muteAdds(): { unmute(): void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const add = this.broker.add.bind(this.broker);
    this.broker.add = async (...args) => {
      const answer = await add(...args);
      await promise;
      return answer;
    };
    return { unmute: resolve };
  }
}

test("a call to a server that is away rejects with UNAVAILABLE, and is never sent", async (t) => {
  const scene = await Scene.open(t);
  await scene.stopServer();
  const calls = [scene.client.add("q", [job("a")]), scene.client.setQueue("made", {})];
  for (const error of await Promise.all(calls.map((call) => scene.failed(call)))) {
    assert.deepEqual([error.code, error.isRetryable], ["UNAVAILABLE", true]);
    assert.equal(error.details.url, `${scene.url}/v1/stream`);
  }
  await scene.startServer();
  await scene.client.add("q", [job("b")]);
  assert.equal(await scene.added(), 1);
  assert.deepEqual((await scene.broker.queues()).items.map(({ name }) => name).sort(), ["q"]);
});

test("a call that is made while the server is away goes through when it is back", async (t) => {
  const scene = await Scene.open(t);
  await scene.stopServer();
  const adding = scene.client.add("q", [job("a")]);
  await scene.clock.advance(CALL_TIMEOUT_MS / 2);
  await scene.startServer();
  assert.equal((await adding)[0]?.error, undefined);
  assert.equal(await scene.added(), 1);
});

test("an add whose signal is aborted while the server is away is withdrawn at once", async (t) => {
  const scene = await Scene.open(t);
  await scene.stopServer();
  const giveUp = new AbortController();
  const adding = scene.client.add("q", [job("a")], { signal: giveUp.signal });
  giveUp.abort();
  await assert.rejects(adding, { code: "ABORTED" });
  assert.equal(getEventListeners(giveUp.signal, "abort").length, 0);
  await scene.startServer();
  await scene.client.queues();
  assert.equal(await scene.added(), 0);
});

test("a call that is not answered rejects with TIMEOUT, and can be repeated", async (t) => {
  const scene = await Scene.open(t);
  const { unmute } = scene.muteAdds();
  const queue = await scene.sluice.queue<string>("q");
  const error = await scene.failed(queue.add("a"));
  assert.deepEqual([error.code, error.isRetryable], ["TIMEOUT", true]);
  unmute();
  const operationId = error.details.operationId as string;
  const first = await queue.add("a", { operationId });
  const second = await queue.add("a", { operationId });
  assert.deepEqual([second.id, await scene.added()], [first.id, 1]);
});

test("adds that travelled together are repeated one by one, and added once each", async (t) => {
  const scene = await Scene.open(t);
  const { unmute } = scene.muteAdds();
  const queue = await scene.sluice.queue<string>("q");
  const adding = ["a", "b", "c"].map((name) => queue.add(name).catch((error) => error));
  await scene.clock.advance(CALL_TIMEOUT_MS);
  const errors = (await Promise.all(adding)) as SluiceError[];
  unmute();
  const ids = errors.map(({ details }) => details.operationId as string);
  assert.equal(new Set(ids).size, 3);
  const last = await queue.add("c", { operationId: ids[2]! });
  assert.equal((await last.info()).payload, "c");
  assert.equal((await queue.add("c", { operationId: ids[2]! })).id, last.id);
  assert.notEqual((await queue.add("a", { operationId: ids[0]! })).id, last.id);
  assert.equal(await scene.added(), 3);
  await assert.rejects(queue.add("b", { operationId: ids[0]! }), { code: "CONFLICT" });
  const foreign = ids[0]!.replace("~", "~x");
  await assert.rejects(queue.add("a", { operationId: foreign }), { code: "CONFLICT" });
});

test("adds that are repeated together are sent once, however many they are", async (t) => {
  const scene = await Scene.open(t);
  const { unmute } = scene.muteAdds();
  const queue = await scene.sluice.queue<number>("q");
  const numbers = Array.from({ length: 2_000 }, (_, i) => i);
  const adding = numbers.map((n) => queue.add(n).catch((error) => error));
  await scene.clock.advance(CALL_TIMEOUT_MS);
  const errors = (await Promise.all(adding)) as SluiceError[];
  unmute();
  let calls = 0;
  const { add } = scene.broker;
  scene.broker.add = (...args) => {
    calls += 1;
    return add.apply(scene.broker, args);
  };
  const repeat = async (n: number): Promise<string> => {
    const operationId = errors[n]!.details.operationId as string;
    return (await queue.add(n, { operationId })).id;
  };
  const ids = await Promise.all(numbers.map(repeat));
  assert.equal(await repeat(7), ids[7]);
  assert.deepEqual([new Set(ids).size, await scene.added(), calls], [2_000, 2_000, 1]);
});

test("an operation id with a tilde is the caller's own", async (t) => {
  const { sluice } = await Scene.open(t);
  const queue = await sluice.queue<string>("q");
  const options = { operationId: "import~3of10" };
  const { id } = await queue.add("a", options);
  assert.equal((await queue.add("a", options)).id, id);
});

test("a call's own timeout counts before that of the connection", async (t) => {
  const scene = await Scene.open(t);
  const queue = await scene.sluice.queue<string>("q");
  await scene.stopServer();
  const calls: Promise<unknown>[] = [
    queue.add("a", { timeout: "1s" }),
    queue.addBulk([{ payload: "a" }], { timeout: "1s" }),
    queue.stats({ timeout: "1s" }),
    scene.sluice.gate("g").set({ rate: 1 }, { timeout: "1s" }),
    scene.sluice.store("s").put("k", 1, { timeout: "1s" }),
    scene.sluice.job("a1").finished({ timeout: "1s" }),
    scene.sluice.queue("other", {}, { timeout: "1s" }),
  ];
  const errors = await Promise.all(calls.map((call) => scene.failed(call, 1_000)));
  assert.deepEqual(
    errors.map(({ code }) => code),
    calls.map(() => "UNAVAILABLE"),
  );
});

test("waiting for a job's end has no timeout of its own", async (t) => {
  const scene = await Scene.open(t);
  const [added] = await scene.client.add("q", [job("a")]);
  await scene.stopServer();
  const ended = scene.client.ended(added!.ok!.id);
  await scene.clock.advance(CALL_TIMEOUT_MS * 3);
  await scene.startServer();
  await scene.client.cancel([added!.ok!.id]);
  assert.equal((await ended).state, "cancelled");
});

test("a Sluice says when its connection is lost, each attempt, and when it is back", async (t) => {
  const scene = await Scene.open(t);
  const heard: { name: string; address: string; error?: Error; attempt?: number }[] = [];
  for (const name of ["connected", "disconnected", "reconnecting"] as const) {
    scene.sluice.on(name, (event) => heard.push({ name, ...event }));
  }
  await scene.stopServer();
  await scene.startServer();
  const names = heard.map(({ name }) => name);
  assert.deepEqual(
    [names[0], names[1], names.at(-1)],
    ["disconnected", "reconnecting", "connected"],
  );
  assert.ok(heard.every(({ address }) => address === `${scene.url}/v1/stream`));
  assert.equal((heard[0]!.error as SluiceError).code, "DISCONNECTED");
  assert.equal(heard[1]!.attempt, 1);
});

test("a worker's ack waits for the server for as long as its lease lasts", async (t) => {
  const scene = await Scene.open(t);
  const queue = await scene.sluice.queue<string, number>("q", { lease: "10m" });
  const { promise: end, resolve } = Promise.withResolvers<number>();
  const started = Promise.withResolvers<void>();
  queue.work(() => {
    started.resolve();
    return end;
  });
  const finished = new Promise((done) => queue.on("finished", done));
  await queue.add("a");
  await started.promise;
  await scene.stopServer();
  resolve(5);
  await scene.clock.advance(CALL_TIMEOUT_MS * 2);
  await scene.startServer();
  await finished;
  assert.equal((await scene.broker.queue("q")).stats.finished, 1);
});

test("closing ends in its time while the server is away", async (t) => {
  const scene = await Scene.open(t);
  const queue = await scene.sluice.queue<string>("q");
  queue.work(() => {});
  queue.on("error", () => {});
  await turns(20);
  await scene.stopServer();
  let isOver = false;
  void scene.sluice.close({ timeout: 1_000 }).then(() => {
    isOver = true;
  });
  await scene.clock.advance(1_000);
  await turns(3);
  assert.ok(isOver);
});
