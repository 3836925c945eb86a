import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { turns } from "@sluice/protocol/testing";
import { FrameReader, FrameWriter, KIND, writeConsume, writeHello } from "@sluice/protocol/wire";
import { WebSocket } from "ws";
import { BUFFERED_BYTES_MAX, WINDOW_BYTES } from "../limits.ts";
import { serve } from "../testing/stream-server.ts";

const PAYLOAD_BYTES = 20_000;
const JOBS = 5000;
/** What the buffers of the operating system may hold on the way. */
const KERNEL_BYTES = 16 * 1024 * 1024;

test("a consumer that reads nothing fills no memory and does not block others", async (t) => {
  const broker = await openBroker({ log: new MemoryLog() });
  const served = await serve(broker);
  t.after(async () => {
    await served.close();
    await broker.close();
  });
  await broker.setQueue("q", {});
  const payload = new Uint8Array(PAYLOAD_BYTES);
  const jobs = Array.from({ length: JOBS }, () => ({ payload }));
  await broker.add("q", jobs);

  const slow = new WebSocket(`${served.url.replace("http", "ws")}/v1/stream`);
  await once(slow, "open");
  const writer = new FrameWriter();
  const hello = { version: 1, apiKey: undefined, client: "slow", session: "", received: 0 };
  writeHello(writer, { ...hello, isResumable: false });
  slow.send(writer.take());
  await once(slow, "message");
  writer.begin(KIND.consume, 1);
  writeConsume(writer, "q", { worker: "slow", credits: 100_000 });
  writer.end();
  slow.pause();
  slow.send(writer.take());

  const running = async (): Promise<number> => (await broker.queue("q")).stats.running;
  let before = -1;
  for (let quiet = 0; quiet < 50; ) {
    await turns(5);
    const now = await running();
    quiet = now === before && now > 0 ? quiet + 1 : 0;
    before = now;
  }
  const most = (BUFFERED_BYTES_MAX + WINDOW_BYTES + KERNEL_BYTES) / PAYLOAD_BYTES;
  assert.ok(
    before < most,
    `${before} jobs of ${PAYLOAD_BYTES} bytes went out, not ${most} at most`,
  );

  const [other] = await broker.lease("q", { max: 1 });
  assert.ok(other !== undefined, "another worker gets a job all the same");

  let received = 0;
  slow.on("message", (data: Buffer) => {
    const reader = new FrameReader(data);
    while (reader.next()) if (reader.kind === KIND.deliver) received += reader.u32();
  });
  slow.resume();
  while (received < JOBS - 1) await turns(1);
  slow.terminate();
});
