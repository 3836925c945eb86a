import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { command, place, type Said } from "../testing/sluice.ts";

const FORBIDDEN = { code: "UNAUTHORIZED" };

interface Home {
  readonly path: string;
  sluice(line: string, env?: Record<string, string>, input?: string): Promise<Said>;
}

function home(t: TestContext): Home {
  const dir = mkdtempSync(join(tmpdir(), "sluice-home-"));
  t.after(() => rmSync(dir, { recursive: true }));
  return {
    path: join(dir, ".config", "sluice", "contexts.json"),
    sluice: (line, env = {}, input = "") =>
      command(line.split(" "), { env: { HOME: dir, ...env }, input }),
  };
}

test("a command talks to the server of its context, with that context's key", async (t) => {
  const { sluice } = home(t);
  const open = (await place(t)).served;
  const { served } = await place(t, { keys: true });
  const { key } = (await served.firstKey)!;
  await sluice(`context add dev --url ${open.address}`);
  const added = await sluice(`context add prod --url ${served.address} --key -`, {}, `${key}\n`);
  assert.equal(added.code, 0, added.remarks);
  await sluice("queue set made-in-prod --context prod");
  assert.match((await sluice("queue list --context dev")).text, /^no queues yet/);
  assert.match((await sluice("queue list", { SLUICE_CONTEXT: "prod" })).text, /^made-in-prod/m);
  await sluice("context use prod");
  assert.match((await sluice("queue list")).text, /^made-in-prod/m);
  assert.match((await sluice("keys list")).text, /admin/);
  const elsewhere = await sluice("queue list", { SLUICE_URL: open.address });
  assert.match(elsewhere.text, /^no queues yet/, "an address in the environment wins");
  await sluice("context use --none");
  await assert.rejects(sluice(`queue list --url ${served.address}`), FORBIDDEN);
});

test("a key goes only to the server that it is for", async (t) => {
  const { sluice } = home(t);
  const { served } = await place(t, { keys: true });
  const { key } = (await served.firstKey)!;
  await sluice(`context add keyless --url ${served.address}`);
  const env = { SLUICE_API_KEY: key };
  await assert.rejects(sluice("queue list --context keyless", env), FORBIDDEN);
  await sluice(`context add other --url http://127.0.0.1:1 --key ${key}`);
  await sluice("context use other");
  await assert.rejects(sluice(`queue list --url ${served.address}`), FORBIDDEN);
});

test("keys are stored for the user alone, and never printed", async (t) => {
  const { sluice, path } = home(t);
  const said = [
    await sluice("context add a --url http://127.0.0.1:1 --key sk_secret"),
    await sluice("context add a --url http://127.0.0.1:1 --key sk_secret"),
    await sluice("context add a --url http://127.0.0.1:2 --key sk_secret --replace"),
    await sluice("context add b --url http://me:sk_secret@127.0.0.1:1"),
    await sluice("context add b --url ftp://me:sk_secret@127.0.0.1"),
    await sluice("context use a"),
    await sluice("context list"),
    await sluice("context list --json"),
  ];
  assert.deepEqual(
    said.map(({ code }) => code),
    [0, 2, 0, 2, 2, 0, 0, 0],
  );
  for (const { text, remarks } of said) assert.doesNotMatch(text + remarks, /sk_secret/);
  assert.match(said[6]!.text, /^\* +a +http:\/\/127.0.0.1:2 +yes$/m);
  const listed = { name: "a", url: "http://127.0.0.1:2", hasKey: true, isUsed: true };
  assert.deepEqual(JSON.parse(said[7]!.text), { items: [listed] });
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.match(readFileSync(path, "utf8"), /sk_secret/);
  chmodSync(path, 0o644);
  await assert.rejects(sluice("context list"), { code: "INVALID", message: /mode 644.*chmod 600/ });
  writeFileSync(path, '{"key":"sk_secret');
  chmodSync(path, 0o600);
  const damaged = await sluice("queue list").catch((error) => error);
  assert.match(damaged.message, /contexts.json: it is not JSON\. Correct the file or remove it$/);
});

test("a context that is removed is no longer used", async (t) => {
  const { sluice } = home(t);
  assert.match((await sluice("context")).text, /^no contexts yet/);
  await sluice("context add staging --url http://127.0.0.1:1");
  await sluice("context use staging");
  await assert.rejects(sluice("queue list --context stagin"), {
    code: "INVALID",
    message: 'there is no context "stagin": did you mean staging?',
  });
  await sluice("context remove staging");
  assert.match((await sluice("context")).text, /^no contexts yet/);
  await assert.rejects(sluice("context remove staging"), { code: "INVALID" });
});

for (const [line, env, said] of [
  ["context add a", {}, /--url is needed/],
  ["context add ../a --url http://x", {}, /NAME must be/],
  ["context add a --url http://x --cert f", {}, /--cert and --cert-key belong together/],
  ["context add a --url http://x --key -", {}, /standard input, which is empty/],
  ["context fly", {}, /"fly" is not one of list, add/],
  ["queue list --url http://x --context a", {}, /--url and --context both name a server/],
  ["queue list", { SLUICE_URL: "http://x", SLUICE_CONTEXT: "a" }, /both name a server: unset one/],
] as const) {
  test(`"${line}" ${Object.keys(env)} is refused with the reason`, async (t) => {
    const { sluice } = home(t);
    const refused = await sluice(line, env).catch((error) => error);
    assert.match(refused.remarks ?? refused.message, said);
    assert.ok(refused.code === 2 || refused.code === "INVALID");
  });
}
