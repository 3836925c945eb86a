import assert from "node:assert/strict";
import { test } from "node:test";
import { dialWebSocket } from "@sluice/client/remote";
import { SystemClock } from "@sluice/protocol";
import { NodeCluster } from "../testing/node-cluster.ts";
import { OwnerDial } from "./owner-dial.ts";
import { RemotePartitions } from "./remote-partitions.ts";

test("a client that does not reach an owner is served through another node", async (t) => {
  const [a, b] = await new NodeCluster(t).start("a", "b");
  const owned = a.node.status().partitions.findIndex(({ owner }) => owner === "a");
  const own = a.server.address.replace(/^http/, "ws");
  const dialled: string[] = [];
  const owners = new OwnerDial({
    addressOf: () => a.server.address,
    onChange: () => () => {},
    relays: () => [a.server.address, b.server.address],
    clock: new SystemClock(),
    dial: (url) => {
      dialled.push(url);
      // Packets to the owner vanish.
      return url.startsWith(own) ? new Promise(() => {}) : dialWebSocket(url);
    },
  });
  const partitions = new RemotePartitions({ dial: owners.dial });
  t.after(async () => {
    await partitions.close({ timeout: 0 });
    owners.close();
  });
  const port = partitions.port(owned);
  await port.setQueue("mail", {});
  const payload = new TextEncoder().encode("x");
  const [added] = await port.add("mail", [{ payload }]);
  assert.match(added!.ok!.id, new RegExp(`^${owned}-`));
  const [job] = await port.lease("mail", { worker: "w", max: 1 });
  assert.deepEqual(await port.ack([{ lease: job!.lease }]), [{ ok: true }]);
  assert.deepEqual(
    dialled.map((url) => new URL(url).host),
    [new URL(a.server.address).host, new URL(b.server.address).host],
  );
});

test("a relayed stream ends with its owner, and one without an owner ends at once", async (t) => {
  const [a, b] = await new NodeCluster(t).start("a", "b");
  const owned = a.node.status().partitions.findIndex(({ owner }) => owner === "a");
  const url = `${b.server.address.replace(/^http/, "ws")}/v1/stream?partition=${owned}&relay=1`;
  const socket = await dialWebSocket(url);
  const ended = new Promise<string>((resolve) => {
    socket.onclose = resolve;
  });
  await a.kill();
  await ended;
});
