import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { NatsConnection } from "@nats-io/transport-node";
import { NatsServers } from "@sluice/log/testing";
import { connectNats } from "./connect.ts";
import { NatsLog } from "./nats-log.ts";

let servers: NatsServers;
let connection: NatsConnection;

before(async () => {
  servers = await NatsServers.start();
  connection = await connectNats(servers.urls);
});
after(async () => {
  await connection?.close();
  await servers?.stop();
});

async function owned(stream: string): Promise<NatsLog> {
  const log = await NatsLog.open({ connection, stream, segmentBytes: 64 * 1024 });
  for await (const _ of log.replay());
  return log;
}

// Reads along; what it has read so far is in the list.
function readAlong(log: NatsLog): { texts: string[]; over: Promise<void> } {
  const texts: string[] = [];
  const over = (async () => {
    for await (const { facts } of log.replay()) texts.push(Buffer.from(facts).toString());
  })();
  over.catch(() => {});
  return { texts, over };
}

test("a follower reads along, and has all when it takes over", async () => {
  const owner = await owned("along");
  await owner.append(Buffer.from("one"));
  const log = await NatsLog.follow({ connection, stream: "along" });
  const { texts, over } = readAlong(log);
  await log.caughtUp;
  assert.deepEqual(texts, ["one"]);
  await owner.append(Buffer.from("two"));
  await owner.append(Buffer.from("x".repeat(3_000_000)));
  await log.takeOver();
  await over;
  assert.deepEqual(
    texts.map((text) => text.slice(0, 3)),
    ["one", "two", "xxx"],
  );
  const refusal = await owner.append(Buffer.from("late")).catch((error) => error);
  assert.equal(refusal.code, "LOG_FAILED");
  await log.append(Buffer.from("mine"));
  await log.close();
  const again = await NatsLog.open({ connection, stream: "along" });
  const last: string[] = [];
  for await (const { facts } of again.replay()) last.push(Buffer.from(facts).toString());
  assert.equal(last.at(-1), "mine");
  await again.close();
});

test("a follower does not disturb the owner, and may give up", async () => {
  const owner = await owned("quiet");
  await owner.append(Buffer.from("one"));
  const log = await NatsLog.follow({ connection, stream: "quiet" });
  const { over } = readAlong(log);
  await log.caughtUp;
  await log.close();
  await assert.rejects(over, { code: "CLOSED" });
  await owner.append(Buffer.from("two"));
  await owner.close();
});

test("a follower forgets what the owner has trimmed, and keeps the rest", async () => {
  const owner = await owned("trimmed");
  const positions: number[] = [];
  for (let i = 0; i < 20; i++) positions.push(await owner.append(Buffer.alloc(10_000)));
  const log = await NatsLog.follow({ connection, stream: "trimmed" });
  const { over } = readAlong(log);
  await log.caughtUp;
  await owner.trim(positions.at(-1)!);
  const [kept] = owner.spans();
  assert.ok(kept!.first > positions[0]!, "something was trimmed");
  await log.takeOver(owner.anchor);
  await over;
  assert.equal(log.spans()[0]?.first, kept!.first);
  const left = positions.filter((position) => position >= kept!.first);
  for (const position of left) assert.equal((await log.read(position, 0, 10_000)).length, 10_000);
  assert.throws(() => log.read(positions[0]!, 0, 1), { code: "INVALID" });
  await log.append(Buffer.from("more"));
  await log.close();
  const again = await owned("trimmed");
  await again.close();
});
