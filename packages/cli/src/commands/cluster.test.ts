import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { command, type Said } from "../testing/sluice.ts";

interface Node {
  readonly id: string;
  readonly owned: number;
  readonly isAlive?: boolean;
  readonly isDraining?: boolean;
}

/** A node that answers with these in order, and then always with the last. */
async function drain(t: TestContext, ...looks: readonly (readonly Node[])[]): Promise<Said> {
  const left = [...looks];
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.method === "POST") {
      response.writeHead(202).end('{"node":"a"}');
      return;
    }
    const told = left.length > 1 ? left.shift()! : left[0]!;
    const nodes = told.map((node) => ({ isAlive: true, isDraining: false, ...node }));
    response.end(JSON.stringify({ nodes, partitions: [], moves: [] }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return command(["cluster", "drain", "a"], { env: { SLUICE_URL: `http://127.0.0.1:${port}` } });
}

test("a drain ends when the node has nothing left", async (t) => {
  const b = { id: "b", owned: 1 };
  const said = await drain(t, [{ id: "a", owned: 1 }, b], [{ id: "a", owned: 0 }, b]);
  assert.deepEqual([said.code, said.text], [0, "a is drained: it can be stopped"]);
  assert.match(said.remarks, /a has 1 partition\na has 0 partitions/);
});

test("a drain that cannot end is refused with the reason", async (t) => {
  const a = { id: "a", owned: 1, isDraining: true };
  for (const other of [
    { id: "b", owned: 0, isAlive: false },
    { id: "b", owned: 0, isDraining: true },
  ]) {
    await assert.rejects(drain(t, [a, { id: "b", owned: 0 }], [a, other]), {
      code: "CONFLICT",
      message: /^cannot drain node a: no other node is available/,
    });
  }
});
