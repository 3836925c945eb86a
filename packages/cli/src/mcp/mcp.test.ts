import assert from "node:assert/strict";
import { test } from "node:test";
import { type Place, place } from "../testing/sluice.ts";

/** What the server answers to messages, one a line. */
async function ask(
  { feed }: Place,
  messages: readonly (object | string)[],
  ...flags: string[]
): Promise<Record<string, never>[]> {
  const input = messages.map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
  const { text, code } = await feed(`${input.join("\n")}\n`, "mcp", ...flags);
  assert.equal(code, 0, text);
  return text.split("\n").map((line) => JSON.parse(line));
}

const use = (id: number, name: string, given: object = {}) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: given },
});

const textOf = (answer: unknown): unknown =>
  JSON.parse((answer as { result: { content: [{ text: string }] } }).result.content[0].text);

test("an assistant greets, lists the tools and reads a queue", async (t) => {
  const at = await place(t);
  await at.sluice("add mail", '{"n":1}', "--create");
  const [hello, list, queue] = await ask(at, [
    { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-03-26" } },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 2, method: "tools/list" },
    use(3, "queue", { queue: "mail" }),
  ]);
  assert.equal((hello as never as Greeting).result.protocolVersion, "2025-03-26");
  const tools = (list as never as { result: { tools: Listed[] } }).result.tools;
  assert.ok(tools.every(({ annotations }) => annotations.readOnlyHint));
  assert.ok(tools.some(({ name }) => name === "why"));
  assert.ok(!tools.some(({ name }) => ["add", "purge", "lease"].includes(name)));
  assert.equal((textOf(queue) as { stats: { waiting: number } }).stats.waiting, 1);
});

interface Greeting {
  result: { protocolVersion: string };
}

interface Listed {
  name: string;
  annotations: { readOnlyHint: boolean };
}

test("with --write an assistant can add a job, and reads a refusal as an answer", async (t) => {
  const at = await place(t);
  await at.sluice("call setQueue mail", "{}");
  const [added, refused] = await ask(
    at,
    [
      use(1, "add", { queue: "mail", payload: { to: "ann" }, options: { fairnessKey: "acme" } }),
      use(2, "why", { id: "none" }),
    ],
    "--write",
  );
  const { ok } = textOf(added) as { ok: { id: string } };
  const job = JSON.parse((await at.sluice(`call job ${ok.id}`)).text);
  assert.deepEqual([job.payload, job.fairnessKey], [{ to: "ann" }, "acme"]);
  assert.equal((refused as never as { result: { isError: boolean } }).result.isError, true);
  assert.equal((textOf(refused) as { error: { code: string } }).error.code, "JOB_NOT_FOUND");
});

test("what is no request is answered with a fault of the protocol", async (t) => {
  const at = await place(t);
  const answers = await ask(at, [
    "not json",
    { jsonrpc: "2.0", id: 1 },
    { jsonrpc: "2.0", id: 2, method: "resources/list" },
    use(3, "purge", { queue: "mail" }),
  ]);
  const codes = answers.map((one) => (one as never as { error: { code: number } }).error.code);
  assert.deepEqual(codes, [-32700, -32600, -32601, -32602]);
});
