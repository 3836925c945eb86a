import assert from "node:assert/strict";
import { test } from "node:test";
import { turningClock, turns } from "@sluice/protocol/testing";
import type { Socket } from "@sluice/protocol/wire";
import { dialWithin } from "./within.ts";

test("a connection that comes too late is closed", async () => {
  const clock = turningClock(1);
  const closed: string[] = [];
  const socket = { close: (_: number, why: string) => closed.push(why) } as unknown as Socket;
  const dialled = Promise.withResolvers<Socket>();
  const dialling = assert.rejects(dialWithin(clock, 100, dialled.promise), { code: "TIMEOUT" });
  await clock.advance(100);
  await dialling;
  assert.equal(closed.length, 0);
  dialled.resolve(socket);
  await turns(1);
  assert.equal(closed.length, 1);
  assert.equal(await dialWithin(clock, 100, Promise.resolve(socket)), socket);
  assert.equal(closed.length, 1, "one in time is not");
});
