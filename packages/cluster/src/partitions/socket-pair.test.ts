import assert from "node:assert/strict";
import { test } from "node:test";
import { socketPair } from "./socket-pair.ts";

const turn = (): Promise<void> => new Promise(setImmediate);

test("messages arrive in order, and the end behind them", async () => {
  const [one, other] = socketPair();
  const heard: (number | string)[] = [];
  other.onmessage = ([first]) => heard.push(first!);
  other.onclose = (reason) => heard.push(reason);
  one.send(new Uint8Array([1]));
  one.send(new Uint8Array([2]));
  one.close(1000, "over");
  one.send(new Uint8Array([3]));
  assert.deepEqual(heard, [], "nothing arrives while the sender is at work");
  await turn();
  assert.deepEqual(heard, [1, 2, "over"]);
});

test("what a paused end has not read is counted, and read when it goes on", async () => {
  const [one, other] = socketPair();
  const heard: number[] = [];
  let drained = 0;
  other.onmessage = (message) => heard.push(message.length);
  one.ondrain = () => drained++;
  other.pause();
  one.send(new Uint8Array(10));
  await turn();
  assert.deepEqual([heard, one.bufferedBytes], [[], 10]);
  other.resume();
  await turn();
  assert.deepEqual([heard, one.bufferedBytes], [[10], 0]);
  assert.ok(drained > 0);
});

test("an end that has closed hears nothing more", async () => {
  const [one, other] = socketPair();
  const heard: number[] = [];
  one.onmessage = (message) => heard.push(message.length);
  other.send(new Uint8Array(1));
  one.close(1000, "enough");
  await turn();
  assert.deepEqual(heard, []);
});
