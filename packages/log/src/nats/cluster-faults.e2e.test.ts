import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { jetstreamManager, type PeerInfo } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { NatsServers } from "@sluice/log/testing";
import { AppendLoad, checkReplay, opened } from "../testing/load.ts";
import { connectNats } from "./connect.ts";
import { NatsLog } from "./nats-log.ts";

describe("a NATS log on a cluster that loses servers", () => {
  let servers: NatsServers;
  let connection: NatsConnection;
  before(async () => {
    servers = await NatsServers.start({ count: 3 });
    connection = await connectNats(servers.urls);
  });
  after(async () => {
    await connection?.close();
    await servers?.stop();
  });

  const leaderOf = (stream: string): Promise<number> =>
    sought(`the leader of ${stream}`, () => servers.streamLeader(stream));

  const followersOf = (stream: string): Promise<readonly PeerInfo[]> =>
    sought(`two followers of ${stream}`, async () => {
      const manager = await jetstreamManager(connection);
      const { cluster } = await manager.streams.info(stream);
      const current = cluster?.replicas?.filter((replica) => replica.current);
      return current?.length === 2 ? current : undefined;
    });

  test("its leader is killed under load: every confirmed batch is there exactly once", async () => {
    const stream = "killed";
    const log = await opened({ connection, stream });
    // Each fourth batch is one of several messages.
    const load = new AppendLoad(log, 16, (number) => (number % 4 === 0 ? 600_000 : 3000));
    for (let round = 0; round < 3; round++) {
      await load.more(200);
      const leader = await leaderOf(stream);
      await servers.kill(leader);
      await load.more(200);
      await servers.restart(leader);
      await servers.ready();
    }
    await load.end();
    await log.close();
    const next = await NatsLog.open({ connection, stream });
    assert.equal(await checkReplay(next, load), load.confirmed.length);
    await next.close();
  });

  test("its leader pauses and resumes: every confirmed batch is there exactly once", async () => {
    const stream = "paused";
    const log = await opened({ connection, stream, ackWaitMs: 500 });
    const load = new AppendLoad(log, 16);
    await load.more(200);
    const leader = await leaderOf(stream);
    await servers.pause(leader);
    await load.more(200);
    servers.resume(leader);
    await load.more(200);
    await load.end();
    await log.close();
    const next = await NatsLog.open({ connection, stream });
    assert.equal(await checkReplay(next, load), load.confirmed.length);
    await next.close();
  });

  test("another node takes over while the leader is killed: nothing is lost", async () => {
    const stream = "taken";
    const former = await opened({ connection, stream });
    const load = new AppendLoad(former, 16);
    await load.more(200);
    const leader = await leaderOf(stream);
    const killed = servers.kill(leader);
    const log = await NatsLog.open({ connection, stream });
    await load.end();
    await checkReplay(log, load);
    await log.append(new Uint8Array(10));
    await Promise.all([log.close(), former.close(), killed]);
    await servers.restart(leader);
    await servers.ready();
  });

  test("continues reading after its reader's server dies and the client reconnects", async () => {
    const stream = "unserved";
    const former = await opened({ connection, stream });
    const load = new AppendLoad(former, 16);
    await load.more(1000);
    await load.end();
    await former.close();
    const log = await NatsLog.open({ connection, stream });
    const batches = log.replay();
    let count = (await batches.next()).done === true ? 0 : 1;
    const manager = await jetstreamManager(connection);
    const [reader] = await manager.consumers.list(stream).next();
    const index = [0, 1, 2].find((index) => servers.nameOf(index) === reader?.cluster?.leader)!;
    await servers.kill(index);
    await connection.reconnect();
    for await (const _ of batches) count++;
    assert.equal(count, load.confirmed.length);
    await log.append(new Uint8Array(10));
    await log.close();
    await servers.restart(index);
    await servers.ready();
  });

  test("moves to another server when its server pauses and the connection is full", async () => {
    const log = await opened({ connection, stream: "full" });
    const index = servers.urls.findIndex((url) => url.endsWith(`:${connection.info?.port}`));
    await servers.pause(index);
    try {
      // More than both ends of the line hold.
      await log.append(new Uint8Array(8_000_000));
    } finally {
      servers.resume(index);
    }
    await log.close();
    await servers.ready();
  });

  test("two of three are gone: it is refused in time, and opens when they are back", async () => {
    const stream = "alone";
    // A server that comes late to a new stream asks for another election, which lasts for seconds.
    await (await opened({ connection, stream })).close();
    await followersOf(stream);
    const log = await opened({ connection, stream, deadlineMs: 3000, ackWaitMs: 500 });
    const load = new AppendLoad(log, 16);
    await load.more(200);
    const leader = await leaderOf(stream);
    const others = [0, 1, 2].filter((index) => index !== leader);
    const gone = [leader, others[0]!];
    await Promise.all(gone.map((index) => servers.kill(index)));
    const goneAt = performance.now();
    const error = await log.failed;
    const tookMs = performance.now() - goneAt;
    assert.ok(tookMs < 6000, `refused after ${tookMs} ms`);
    assert.equal(error.code, "LOG_FAILED");
    assert.match(error.message, /no quorum|not connected/);
    await load.end();
    await assert.rejects(log.append(new Uint8Array(1)), { code: "LOG_FAILED" });
    const options = { connection, stream, deadlineMs: 2000, ackWaitMs: 500 };
    await assert.rejects(NatsLog.open(options), { code: "LOG_FAILED" });
    await Promise.all(gone.map((index) => servers.restart(index)));
    await servers.ready();
    const next = await NatsLog.open({ connection, stream });
    await checkReplay(next, load);
    await next.append(new Uint8Array(10));
    await Promise.all([next.close(), log.close()]);
  });
});

/** Found within half a minute; errors on the way are those of servers that are not ready. */
async function sought<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const endAt = performance.now() + 30_000;
  for (;;) {
    const found = await look().catch(() => undefined);
    if (found !== undefined) return found;
    if (performance.now() > endAt) throw new Error(`not there: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
