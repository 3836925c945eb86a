import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock, type QueueStats } from "@sluice/protocol";
import { start } from "../testing/start.ts";
import { Pulse } from "./pulse.ts";

interface Beat {
  at: number;
  queues: string[];
  isCut: boolean;
}

async function* beats(address: string, key: string | undefined, signal: AbortSignal) {
  const headers: Record<string, string> = {};
  if (key !== undefined) headers.authorization = `Bearer ${key}`;
  const response = await fetch(`${address}/v1/pulse`, { headers, signal });
  assert.equal(response.status, 200);
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const parts = text.split("\n\n");
    text = parts.pop()!;
    for (const part of parts) yield JSON.parse(part.slice(part.indexOf("data: ") + 6)) as Beat;
  }
}

test("a reader hears at once that the server lives, and then what changes", async (t) => {
  const { broker, server } = await start(t);
  const stop = new AbortController();
  const pulse = beats(server.address, undefined, stop.signal);
  assert.deepEqual((await pulse.next()).value?.queues, []);
  await broker.setQueue("mail", {});
  const { value } = await pulse.next();
  assert.deepEqual(value?.queues, ["mail"]);
  assert.equal(value?.isCut, false);
  stop.abort();
});

test("a key hears of queues that it may see, until it is revoked", async (t) => {
  const { broker, call, server } = await start(t, { keys: true });
  const { key } = (await server.firstKey)!;
  const grants = [{ action: "consume", on: "orders.*" }];
  const made = (await call("POST /v1/keys", { key, body: { name: "some", grants } })).body;
  const pulse = beats(server.address, made.key, new AbortController().signal);
  await pulse.next();
  for (const name of ["secret", "orders.a"]) await broker.setQueue(name, {});
  assert.deepEqual((await pulse.next()).value?.queues, ["orders.a"]);
  await call(`DELETE /v1/keys/${made.id}`, { key });
  assert.equal((await pulse.next()).done, true);
});

test("readers are bounded, and a closing server sends them home", async (t) => {
  const { call, server } = await start(t, { limits: { eventStreamsMax: 1 } });
  const pulse = beats(server.address, undefined, new AbortController().signal);
  await pulse.next();
  assert.equal((await call("GET /v1/pulse")).status, 429);
  await server.close();
  assert.equal((await pulse.next()).done, true);
});

test("reports only what has changed, and reports a removal once", async () => {
  const figures = new Map([["a", 1]]);
  const look = async () =>
    [...figures].map(([name, added]) => ({ name, stats: { name, added } as QueueStats }));
  const pulse = new Pulse(look, new FakeClock());
  const heard: (readonly string[])[] = [];
  const leave = pulse.listen((changed) => heard.push(changed));
  await pulse.beat();
  await pulse.beat();
  figures.set("a", 2).set("b", 1);
  await pulse.beat();
  figures.delete("a");
  await pulse.beat();
  await pulse.beat();
  leave();
  assert.deepEqual(heard, [["a"], [], ["a", "b"], ["a"], []]);
});

test("a broker that cannot be asked is no reason to fall silent", async () => {
  const pulse = new Pulse(() => Promise.reject(new Error("recovering")), new FakeClock());
  let beats = 0;
  const leave = pulse.listen(() => beats++);
  await pulse.beat();
  leave();
  assert.equal(beats, 1);
});
