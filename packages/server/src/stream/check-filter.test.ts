import assert from "node:assert/strict";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { connectBroker } from "@sluice/client/remote";
import { MemoryLog } from "@sluice/log";
import type { EventFilter } from "@sluice/protocol";
import { serve } from "../testing/stream-server.ts";

test("refuses arguments of another type, and the server keeps running", async (t) => {
  const broker = await openBroker({ log: new MemoryLog() });
  const served = await serve(broker);
  const client = await connectBroker(served.url);
  t.after(async () => {
    await client.close();
    await served.close();
    await broker.close();
  });
  await client.setQueue("q", {});
  for (const filter of [{ events: 5 }, { events: [5] }, { queue: 5 }, []]) {
    const events = client.events(filter as EventFilter);
    await assert.rejects(events.next(), { code: "INVALID" }, JSON.stringify(filter));
  }
  await assert.rejects(client.queue(5 as unknown as string), { code: "INVALID" });
  await assert.rejects(client.cancel("x" as unknown as string[]), { code: "INVALID" });
  await assert.rejects(client.group(null as unknown as string), { code: "INVALID" });
  const [added] = await client.add("q", [{ payload: new Uint8Array(1) }]);
  assert.ok(added?.ok?.id);
});
