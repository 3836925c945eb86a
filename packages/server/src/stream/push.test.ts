import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type LocalBroker, openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { SystemClock } from "@sluice/protocol";
import { turns } from "@sluice/protocol/testing";
import {
  FrameReader,
  FrameWriter,
  KIND,
  readLeasedJobs,
  WIRE_VERSION,
  writeAcks,
  writeConsume,
  writeHello,
} from "@sluice/protocol/wire";
import type { ServerSocket } from "./session.ts";
import { Sessions } from "./sessions.ts";

/** A connection whose turn ends when the test says so, and the kinds of what has left by it. */
interface Scene {
  readonly broker: LocalBroker;
  /** One array for each write to the operating system. */
  readonly written: number[][];
  readonly leases: string[];
  say(kind: number, operation: number, write: (writer: FrameWriter) => void): void;
  endTurn(): void;
}

async function open(t: TestContext): Promise<Scene> {
  const broker = await openBroker({ log: new MemoryLog() });
  await broker.setQueue("q", {});
  const turn: (() => void)[] = [];
  const sessions = new Sessions<undefined>({
    open: async () => ({ broker, isNode: false }),
    server: "test",
    resumeMs: 1000,
    heartbeatMs: 10_000,
    handshakeMs: 10_000,
    clock: new SystemClock(),
    defer: (callback) => turn.push(callback),
  });
  t.after(async () => {
    sessions.close();
    await broker.close();
  });
  const written: number[][] = [];
  const leases: string[] = [];
  let corked: number[] = [];
  const uncork = (): void => {
    if (corked.length > 0) written.push(corked);
    corked = [];
  };
  const socket: ServerSocket = {
    send: (message) => {
      const reader = new FrameReader(message);
      while (reader.next()) {
        if (reader.kind !== KIND.received) corked.push(reader.kind);
        if (reader.kind !== KIND.deliver) reader.skip();
        else for (const { lease } of readLeasedJobs(reader, "q")) leases.push(lease);
      }
    },
    push: uncork,
    bufferedBytes: 0,
    close: () => {},
    pause: () => {},
    resume: () => {},
    onmessage: () => {},
    ondrain: () => {},
    onclose: () => {},
  };
  const endTurn = (): void => {
    for (const callback of turn.splice(0)) callback();
    uncork();
  };
  sessions.accept(socket, undefined);
  const writer = new FrameWriter();
  writeHello(writer, {
    ...{ version: WIRE_VERSION, apiKey: undefined, client: "test", session: "", received: 0 },
    isResumable: true,
  });
  socket.onmessage(writer.take());
  await turns(3);
  const say: Scene["say"] = (kind, operation, write) => {
    writer.begin(kind, operation);
    write(writer);
    writer.end();
    socket.onmessage(writer.take());
  };
  say(KIND.consume, 1, (to) => writeConsume(to, "q", { worker: "w", credits: 10 }));
  await turns(3);
  endTurn();
  written.length = 0;
  return { broker, written, leases, say, endTurn };
}

const JOB = { payload: new Uint8Array(1) };

test("a job for a client that waits for nothing else leaves at once", async (t) => {
  const { broker, written, endTurn } = await open(t);
  await broker.add("q", [JOB]);
  await turns(2);
  assert.deepEqual(written, [[KIND.deliver]]);
  endTurn();
  assert.deepEqual(written, [[KIND.deliver]]);
});

test("a job and an answer of one commit leave in one write", async (t) => {
  const { broker, written, leases, say, endTurn } = await open(t);
  await broker.add("q", [JOB]);
  await turns(2);
  written.length = 0;
  // Both are in the same commit.
  say(KIND.ack, 2, (to) => {
    to.text("");
    writeAcks(to, [{ lease: leases[0]! }]);
  });
  const added = broker.add("q", [JOB]);
  await added;
  await turns(2);
  assert.deepEqual(written, []);
  endTurn();
  assert.deepEqual(written, [[KIND.deliver, KIND.done]]);
});
