import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { command } from "../testing/sluice.ts";

test("a server that ends the connection is said in a sentence", async (t) => {
  const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = `postgres://u@127.0.0.1:${port}/a`;
  await assert.rejects(command(["postgres", "status", "--postgres", url]), {
    code: "UNAVAILABLE",
    message: "PostgreSQL does not answer: the server ended the connection",
  });
});
