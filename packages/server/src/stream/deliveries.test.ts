import assert from "node:assert/strict";
import { test } from "node:test";
import type { LeasedJob } from "@sluice/protocol";
import {
  Channel,
  DELIVERY_BYTES_AIM,
  FrameReader,
  KIND,
  MESSAGE_BYTES_AIM,
  readLeasedJobs,
} from "@sluice/protocol/wire";
import { writeDeliveries } from "./deliveries.ts";

const PAYLOAD_BYTES = 512;

function jobsOf(bytes: number): LeasedJob[] {
  const payload = new Uint8Array(PAYLOAD_BYTES);
  return Array.from({ length: Math.ceil(bytes / PAYLOAD_BYTES) }, (_, i) => ({
    ...{ id: `a${i}`, lease: `a${i}.1.seal`, queue: "q", attempt: 1, attempts: 3, deliveries: 1 },
    ...{ tier: 0, fairnessKey: "k", addedAt: 1, expiresAt: 2, expiresIn: 1, headers: {} },
    payload,
  })) as unknown as LeasedJob[];
}

/** A channel whose turn ends when it is asked to, and what it has sent. */
function open() {
  const messages: Uint8Array[] = [];
  const turn: (() => void)[] = [];
  const channel = new Channel({ defer: (callback) => turn.push(callback), isResumable: true });
  const socket = { bufferedBytes: 0, send: (message: Uint8Array) => messages.push(message) };
  channel.attach(socket as never, 0);
  const endTurn = (): void => {
    for (const callback of turn.splice(0)) callback();
  };
  return { channel, messages, socket, endTurn };
}

function idsOf(messages: readonly Uint8Array[]): string[] {
  const ids: string[] = [];
  for (const message of messages) {
    const reader = new FrameReader(message);
    while (reader.next()) {
      assert.equal(reader.kind, KIND.deliver);
      for (const { id } of readLeasedJobs(reader, "q")) ids.push(id);
    }
  }
  return ids;
}

test("messages of one delivery leave together at the end of the turn, in order", () => {
  const { channel, messages, endTurn } = open();
  const jobs = jobsOf(2 * DELIVERY_BYTES_AIM);
  writeDeliveries(channel, 1, jobs);
  assert.equal(messages.length, 0, "a message left alone, before the others were written");
  endTurn();
  assert.ok(messages.length > 1);
  assert.deepEqual(
    idsOf(messages),
    jobs.map(({ id }) => id),
  );
});

test("a large delivery does not wait for the end of the turn", () => {
  const { channel, messages, endTurn } = open();
  const jobs = jobsOf(2 * MESSAGE_BYTES_AIM);
  writeDeliveries(channel, 1, jobs);
  assert.ok(messages.length > 1);
  endTurn();
  assert.deepEqual(
    idsOf(messages),
    jobs.map(({ id }) => id),
  );
});

test("messages that were cut when the connection broke are sent once over the next", () => {
  const { channel, messages, socket, endTurn } = open();
  const jobs = jobsOf(2 * DELIVERY_BYTES_AIM);
  writeDeliveries(channel, 1, jobs);
  channel.detach();
  channel.attach(socket as never, 0);
  endTurn();
  assert.deepEqual(
    idsOf(messages),
    jobs.map(({ id }) => id),
  );
});
