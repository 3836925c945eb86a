import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { FakeClock } from "@sluice/protocol";
import { EVENTS_HEARTBEAT_MS } from "../limits.ts";
import { payload, start } from "../testing/start.ts";

/** Reads a stream of events, one at a time. */
async function read(t: TestContext, address: string): Promise<() => Promise<[string, unknown]>> {
  const stop = new AbortController();
  t.after(() => stop.abort());
  const response = await fetch(address, { signal: stop.signal });
  assert.equal(response.status, 200);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return async () => {
    for (;;) {
      const [, name, data] = /event: (.*)\ndata: (.*)\n\n/.exec(text) ?? [];
      if (name !== undefined) {
        text = text.slice(text.indexOf("\n\n", text.indexOf("data: ")) + 2);
        return [name, JSON.parse(data!)];
      }
      const { value, done } = await reader.read();
      if (done) return ["end", undefined];
      text += value;
    }
  };
}

test("streams events as they happen, and only those that were requested", async (t) => {
  const { broker, server } = await start(t, { queues: ["q", "other"] });
  const next = await read(t, `${server.address}/v1/events?queue=q&events=added,ended`);
  await broker.add("other", [{ payload }]);
  await broker.add("q", [{ payload }]);
  const [job] = await broker.lease("q", { max: 1 });
  await broker.ack([{ lease: job!.lease, result: new TextEncoder().encode('{"a":1}') }]);
  const [added, first] = await next();
  assert.deepEqual([added, (first as { id: string }).id], ["added", job!.id]);
  const [ended, second] = await next();
  assert.deepEqual([ended, (second as { result: object }).result], ["ended", { a: 1 }]);
});

test("an unknown kind of event is refused", async (t) => {
  const { call } = await start(t);
  const { status, body } = await call("GET /v1/events?events=added,nothing");
  assert.deepEqual([status, body.error.code], [400, "INVALID"]);
  assert.match(body.error.message, /^events must be some of added, .*, got "nothing"$/);
});

test("an idle stream says that it is alive", async (t) => {
  const clock = new FakeClock();
  const { server } = await start(t, { clock });
  const socket = connect(server.port, "127.0.0.1");
  socket.write("GET /v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n");
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  while (!text.includes(": open")) await once(socket, "data");
  await clock.advance(EVENTS_HEARTBEAT_MS);
  while (!text.includes(": alive")) await once(socket, "data");
  socket.destroy();
});

test("a server that closes ends its streams, and so does the broker", async (t) => {
  const { broker, server } = await start(t);
  const next = await read(t, `${server.address}/v1/events`);
  const end = next();
  await server.close();
  assert.deepEqual(await end, ["end", undefined]);
  await broker.close();
});

test("there is a limit to readers, and one that leaves makes room", async (t) => {
  const { call, server } = await start(t, { limits: { eventStreamsMax: 1 } });
  const first = connect(server.port, "127.0.0.1");
  first.write("GET /v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await once(first, "data");
  const { status, body } = await call("GET /v1/events");
  assert.deepEqual([status, body.error.code], [429, "RATE_LIMITED"]);
  first.destroy();
  for (;;) {
    const stop = new AbortController();
    const { status: now } = await fetch(`${server.address}/v1/events`, { signal: stop.signal });
    stop.abort();
    if (now === 200) break;
  }
});

test("a reader that does not keep up is cut off", async (t) => {
  const { broker, server } = await start(t, { queues: ["q"] });
  const slow = connect(server.port, "127.0.0.1");
  slow.write("GET /v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await once(slow, "data");
  slow.pause();
  const closed = once(slow, "close");
  await broker.add(
    "q",
    Array.from({ length: 10 }, () => ({ payload })),
  );
  // Some large events fill the buffers of the system, then more wait than the broker keeps.
  const result = new TextEncoder().encode(JSON.stringify("x".repeat(1_000_000)));
  for (const { lease } of await broker.lease("q", { max: 10 })) {
    const [ended] = await broker.ack([{ lease, result }]);
    assert.deepEqual(ended, { ok: true });
  }
  for (let i = 0; i < 2; i++) {
    await broker.add(
      "q",
      Array.from({ length: 6_000 }, () => ({ payload })),
    );
  }
  slow.resume();
  let text = "";
  slow.on("data", (chunk) => {
    text = (text + chunk).slice(-1000);
  });
  await closed;
  assert.match(text, /event: error\ndata: {"code":"RATE_LIMITED"/);
});
