import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { headers, type NatsConnection } from "@nats-io/transport-node";
import { NatsServers } from "@sluice/log/testing";
import { IN_FLIGHT_MAX } from "../limits.ts";
import type { Position } from "../log.ts";
import { chained } from "../messages/chain.ts";
import { encodeMessage, FACTS } from "../messages/message.ts";
import { AppendLoad, checkReplay, numbered, opened } from "../testing/load.ts";
import { connectNats } from "./connect.ts";
import { NatsLog } from "./nats-log.ts";

let streams = 0;
const newStream = (): string => `faults-${++streams}`;

for (const count of [1, 3]) {
  describe(`a NATS log on ${count} servers`, () => {
    let servers: NatsServers;
    let connection: NatsConnection;
    before(async () => {
      servers = await NatsServers.start({ count });
      connection = await connectNats(servers.urls);
    });
    after(async () => {
      await connection?.close();
      await servers?.stop();
    });

    test("a new owner that opens the log shuts out the former owner", async () => {
      const stream = newStream();
      const former = await opened({ connection, stream });
      const positions = [
        await former.append(numbered(0, 100)),
        await former.append(numbered(1, 9)),
      ];
      const log = await NatsLog.open({ connection, stream });
      const late = await Promise.allSettled(
        Array.from({ length: 2 * IN_FLIGHT_MAX }, (_, i) => former.append(numbered(2 + i, 100))),
      );
      for (const result of late) {
        assert.equal(result.status, "rejected");
        assert.equal(result.reason.code, "LOG_FAILED");
        assert.match(result.reason.message, /another owner has taken over/);
      }
      assert.equal((await former.failed).code, "LOG_FAILED");
      await assert.rejects(former.append(numbered(9, 9)), { code: "LOG_FAILED" });
      await assert.rejects(former.trim(positions[1]!), { code: "LOG_FAILED" });
      const replayed: Position[] = [];
      for await (const { position } of log.replay()) replayed.push(position);
      assert.deepEqual(replayed, positions);
      await log.append(numbered(2, 100));
      await Promise.all([log.close(), former.close()]);
    });

    test("the replay of a new owner has what was confirmed while it opened the log", async () => {
      const stream = newStream();
      for (let round = 0; round < 5; round++) {
        const name = `${stream}-${round}`;
        const former = await opened({ connection, stream: name });
        // Each second batch is one of several messages.
        const load = new AppendLoad(former, 40, (number) => (number % 2 === 0 ? 3000 : 600_000));
        await load.more(10);
        const log = await NatsLog.open({ connection, stream: name });
        await load.end();
        await checkReplay(log, load);
        await log.append(numbered(0, 10));
        await Promise.all([log.close(), former.close()]);
      }
    });

    test("when two owners open it at once, one of them owns it in the end", async () => {
      const stream = newStream();
      const first = await opened({ connection, stream });
      await first.append(numbered(0, 10));
      const logs = await Promise.all([
        opened({ connection, stream }),
        opened({ connection, stream }),
      ]);
      const appended = await Promise.allSettled(logs.map((log) => log.append(numbered(1, 10))));
      assert.equal(appended.filter(({ status }) => status === "fulfilled").length, 1);
      const next = await NatsLog.open({ connection, stream });
      const numbers: number[] = [];
      for await (const { facts } of next.replay()) numbers.push(Buffer.from(facts).readUInt32LE());
      assert.deepEqual(numbers, [0, 1]);
      await Promise.all([...logs, next].map((log) => log.close()));
    });

    test("the stream refuses late messages of the former owner behind a fence", async () => {
      const stream = newStream();
      const former = await opened({ connection, stream });
      const last = await former.append(numbered(0, 10));
      const log = await opened({ connection, stream });
      const fence = 1;
      for (let i = 0; i < IN_FLIGHT_MAX; i++) {
        const position = last + 1 + i;
        const head = { index: 0, lengthBytes: 10, partBytes: 1000, position, fence, chain: 0 };
        const message = encodeMessage({ ...head, kind: FACTS }, numbered(i, 10));
        await assert.rejects(publish(connection, stream, message, position - 1), /wrong last seq/);
      }
      await log.append(numbered(1, 10));
      await Promise.all([log.close(), former.close()]);
    });

    test("a batch of which a crash has left some messages was never confirmed", async () => {
      const stream = newStream();
      const former = await opened({ connection, stream });
      const last = await former.append(numbered(0, 1000));
      await former.close();
      const whole = numbered(1, 2500);
      const position = last + 1;
      const head = { kind: FACTS, lengthBytes: 2500, partBytes: 1000, position, fence: 1 } as const;
      let { chain } = former.anchor!;
      for (const index of [0, 1]) {
        const part = whole.subarray(1000 * index, 1000 * (index + 1));
        const message = encodeMessage({ ...head, index, chain }, part);
        await publish(connection, stream, message, last + index);
        chain = chained(chain, message);
      }
      const log = await NatsLog.open({ connection, stream });
      const sizes: number[] = [];
      for await (const { facts } of log.replay()) sizes.push(facts.length);
      assert.deepEqual(sizes, [1000]);
      await log.append(numbered(1, 700_000));
      await log.close();
      const next = await NatsLog.open({ connection, stream });
      for await (const { facts } of next.replay()) sizes.push(facts.length);
      assert.deepEqual(sizes, [1000, 1000, 700_000]);
      await next.close();
    });

    test("a message that is damaged, foreign or missing is refused", async () => {
      const good = encodeMessage(
        { kind: FACTS, index: 0, lengthBytes: 10, partBytes: 10, position: 34, fence: 1, chain: 0 },
        numbered(1, 10),
      );
      const flipped = Uint8Array.from(good);
      flipped[49]! ^= 1;
      const elsewhere = encodeMessage(
        { kind: FACTS, index: 0, lengthBytes: 10, partBytes: 10, position: 35, fence: 1, chain: 0 },
        numbered(1, 10),
      );
      const foreign = new TextEncoder().encode("something quite different of another program");
      for (const message of [flipped, elsewhere, foreign, new Uint8Array(0)]) {
        const stream = newStream();
        const former = await opened({ connection, stream });
        assert.equal(await former.append(numbered(0, 10)), 33);
        await former.close();
        await publish(connection, stream, message, 33);
        await assert.rejects(opened({ connection, stream }), { code: "LOG_DAMAGED" });
        // It is refused again, and nothing is passed over in silence.
        await assert.rejects(opened({ connection, stream }), { code: "LOG_DAMAGED" });
      }
    });

    test("a batch of another history is refused, though it is whole and in its place", async () => {
      const stream = newStream();
      const former = await opened({ connection, stream });
      const position = (await former.append(numbered(0, 10))) + 1;
      await former.close();
      const place = { position, fence: 1, chain: former.anchor!.chain ^ 1 };
      const head = { kind: FACTS, index: 0, lengthBytes: 10, partBytes: 10, ...place } as const;
      await publish(connection, stream, encodeMessage(head, numbered(1, 10)), position - 1);
      await assert.rejects(opened({ connection, stream }), {
        code: "LOG_DAMAGED",
        message: new RegExp(`${stream} is damaged at sequence ${position}: it does not continue`),
      });
    });

    test("a stream that lacks what was confirmed is refused", async () => {
      const stream = newStream();
      const former = await opened({ connection, stream });
      await former.append(numbered(0, 10));
      await former.close();
      const { position, chain } = former.anchor!;
      await (await opened({ connection, stream, anchor: { position, chain } })).close();
      for (const anchor of [
        { position, chain: chain ^ 1 },
        { position: position + 1000, chain },
      ]) {
        await assert.rejects(opened({ connection, stream, anchor }), { code: "LOG_DAMAGED" });
      }
    });

    test("a connection that is closed under it fails the log", async () => {
      const own = await connectNats(servers.urls);
      const stream = newStream();
      const log = await opened({ connection: own, stream });
      const position = await log.append(numbered(0, 10));
      const pending = assert.rejects(log.append(numbered(1, 10)), { code: "LOG_FAILED" });
      await own.close();
      await pending;
      assert.match((await log.failed).message, /the connection to NATS is closed/);
      await assert.rejects(log.append(numbered(2, 10)), { code: "LOG_FAILED" });
      await assert.rejects(log.trim(position), { code: "LOG_FAILED" });
      await log.close();
    });

    test("an append that was sent several times is there once", async () => {
      const stream = newStream();
      const log = await opened({ connection, stream, ackWaitMs: 100, deadlineMs: 20_000 });
      const load = new AppendLoad(log, 8);
      await load.more(20);
      for (let round = 0; round < 3; round++) {
        for (let index = 0; index < count; index++) await servers.pause(index);
        // Long enough for several attempts, too short for an election.
        await new Promise((resolve) => setTimeout(resolve, 700));
        for (let index = 0; index < count; index++) servers.resume(index);
        await load.more(50);
      }
      await load.end();
      await log.close();
      const next = await NatsLog.open({ connection, stream });
      assert.equal(await checkReplay(next, load), load.confirmed.length);
      await next.close();
    });
  });
}

test("a log outlives its server, with all that was confirmed", async () => {
  const servers = await NatsServers.start();
  const connection = await connectNats(servers.urls);
  try {
    const log = await opened({ connection, stream: "one" });
    const load = new AppendLoad(log, 8);
    for (let round = 0; round < 3; round++) {
      await load.more(100);
      await servers.kill(0);
      await servers.restart(0);
    }
    await load.more(100);
    await load.end();
    await log.close();
    const next = await NatsLog.open({ connection, stream: "one" });
    assert.equal(await checkReplay(next, load), load.confirmed.length);
    await next.close();
  } finally {
    await connection.close();
    await servers.stop();
  }
});

test("a byte of the server's own files has changed: what it lost is refused", async () => {
  const servers = await NatsServers.start();
  const connection = await connectNats(servers.urls);
  try {
    for (const share of [0.2, 0.5, 0.95]) {
      const stream = newStream();
      const log = await opened({ connection, stream });
      for (let i = 0; i < 50; i++) await log.append(numbered(i, 1000));
      await log.close();
      const { anchor } = log;
      await servers.kill(0);
      const streams = join(servers.storeOf(0), "jetstream", "$G", "streams");
      const path = join(streams, stream, "msgs", "1.blk");
      const bytes = readFileSync(path);
      bytes[Math.floor(bytes.length * share)]! ^= 0xff;
      writeFileSync(path, bytes);
      await servers.restart(0);
      await servers.ready();
      const damage = await opened({ connection, stream, anchor }).catch((error) => error);
      assert.equal(damage.code, "LOG_DAMAGED");
      assert.equal(damage.details.server, connection.info?.server_name);
      const { state } = await (await jetstreamManager(connection)).streams.info(stream);
      if ((state.num_deleted ?? 0) === 0) continue;
      // A stream that has lost something is known before it gets another fence.
      await assert.rejects(NatsLog.open({ connection, stream }), { code: "LOG_DAMAGED" });
      const after = await (await jetstreamManager(connection)).streams.info(stream);
      assert.equal(after.state.last_seq, state.last_seq);
      assert.ok(state.last_seq < 50 + 2 * IN_FLIGHT_MAX, `${state.last_seq} messages`);
    }
  } finally {
    await connection.close();
    await servers.stop();
  }
});

test("a server that is away for too long fails the log, which says why", async () => {
  const servers = await NatsServers.start();
  const connection = await connectNats(servers.urls);
  try {
    const options = { connection, stream: "one", deadlineMs: 1000, ackWaitMs: 200 };
    const log = await opened(options);
    await servers.pause(0);
    await assert.rejects(log.append(numbered(0, 10)), (error: Error & { code?: string }) => {
      assert.equal(error.code, "LOG_FAILED");
      assert.match(error.message, /nothing was confirmed for 1000 ms: no quorum/);
      return true;
    });
    servers.resume(0);
    const again = await opened(options);
    await servers.kill(0);
    await assert.rejects(again.append(numbered(0, 10)), /not connected to NATS/);
    await assert.rejects(NatsLog.open(options), { code: "LOG_FAILED" });
  } finally {
    await connection.close();
    await servers.stop();
  }
});

function publish(
  connection: NatsConnection,
  stream: string,
  message: Uint8Array,
  last: Position,
): Promise<unknown> {
  const head = headers();
  head.set("Nats-Expected-Last-Sequence", String(last));
  return jetstream(connection).publish(`sluice.log.${stream}`, message, { headers: head });
}
