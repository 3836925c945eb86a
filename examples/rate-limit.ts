// Two queues call one provider. When it answers "429, come back in a second", both wait and neither
// loses an attempt: the limit belongs to the gate that they share, not to a job.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { RetryAfter, Sluice, type WorkJob } from "sluice";

// The provider, which refuses its third request.
let requests = 0;
const provider = createServer((request, response) => {
  requests++;
  if (requests === 3) response.writeHead(429, { "Retry-After": "1" });
  response.end(`data of ${request.url}`);
}).listen(0, "127.0.0.1");
await once(provider, "listening");
const address = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;

async function call({ payload, attempt }: WorkJob<{ path: string }>): Promise<string> {
  const response = await fetch(address + payload.path);
  const text = await response.text();
  if (response.status === 429) {
    console.log(`${payload.path}: 429, everybody waits`);
    const seconds = Number(response.headers.get("Retry-After"));
    throw new RetryAfter(seconds * 1000, { gate: "provider", reason: "429" });
  }
  console.log(`${payload.path}: ${text} (attempt ${attempt})`);
  return text;
}

{
  await using sluice = await Sluice.open({ durability: "memory" });
  await sluice.gate("provider").set({ rate: 100, burst: 100, concurrency: 1 });
  const policy = { gates: () => ["provider"] };
  const search = await sluice.queue<{ path: string }, string>("search", { policy });
  const sync = await sluice.queue<{ path: string }, string>("sync", { policy });
  const jobs = [
    await search.add({ path: "/search/1" }),
    await search.add({ path: "/search/2" }),
    await sync.add({ path: "/sync/1" }),
    await sync.add({ path: "/sync/2" }),
  ];
  search.work(call, { concurrency: 5 });
  sync.work(call, { concurrency: 5 });
  await Promise.all(jobs.map((job) => job.finished()));
  console.log(`${requests} requests for ${jobs.length} jobs`);
}
provider.close();
