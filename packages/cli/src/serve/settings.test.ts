import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { ServerSettings } from "@sluice/protocol";
import type { Call } from "../command.ts";
import { SERVE_USAGE, serveSettings } from "./settings.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-settings-"));
after(() => rmSync(folder, { recursive: true }));

function read(
  values: Call["values"],
  env: Record<string, string> = {},
  yaml?: string,
): Promise<ServerSettings> {
  const config = join(folder, "sluice.yaml");
  if (yaml !== undefined) writeFileSync(config, yaml);
  const said = yaml === undefined ? values : { ...values, config };
  return serveSettings({ values: said, env } as unknown as Call);
}

test("what is said closer to the command wins", async () => {
  const yaml = "port: 1\nhost: a\ndir: b";
  assert.deepEqual(await read({ port: "3" }, { SLUICE_PORT: "2", SLUICE_HOST: "c" }, yaml), {
    port: 3,
    host: "c",
    dir: "b",
  });
});

test("flags, lists and numbers are read from each place", async () => {
  const wanted = { keys: true, allowHosts: ["a", "b"], addsPerSecond: 5 };
  assert.deepEqual(
    await read({ keys: true, "allow-hosts": ["a,b"], "adds-per-second": "5" }),
    wanted,
  );
  const env = { SLUICE_KEYS: "1", SLUICE_ALLOW_HOSTS: "a, b", SLUICE_ADDS_PER_SECOND: "5" };
  assert.deepEqual(await read({}, env), wanted);
  assert.deepEqual(await read({}, {}, "keys: true\nallowHosts: [a, b]\naddsPerSecond: 5"), wanted);
});

test("durations are milliseconds or texts in each place", async () => {
  const wanted = { resume: 5_000, cooldownMax: 60_000 };
  assert.deepEqual(await read({ resume: "5s", "cooldown-max": "60000" }), wanted);
  assert.deepEqual(await read({}, { SLUICE_RESUME: "5000", SLUICE_COOLDOWN_MAX: "1m" }), wanted);
  assert.deepEqual(await read({}, {}, "resume: 5s\ncooldownMax: 60000"), wanted);
});

test("a name that looks like a number stays a text", async () => {
  assert.deepEqual(await read({ dir: "5" }, { SLUICE_NODE: "7" }), { dir: "5", node: "7" });
});

test("an empty variable is as good as none", async () => {
  assert.deepEqual(await read({}, { SLUICE_PORT: "" }), {});
});

for (const [what, values, env, yaml, said] of [
  [
    "an option",
    { port: "x" },
    {},
    undefined,
    /^--port must be an integer from 0 to 65535, got "x"/,
  ],
  ["a variable", {}, { SLUICE_KEYS: "maybe" }, undefined, /^SLUICE_KEYS must be true or false/],
  ["a file", {}, {}, "port: []", /sluice.yaml: port must be an integer/],
  ["a range", { resume: "2h" }, {}, undefined, /^--resume must be .* of at most 3600000 ms/],
  ["a choice", { "log-level": "loud" }, {}, undefined, /^--log-level must be one of fatal, /],
  ["an unknown name", {}, {}, "prot: 1", /prot is not known; known are dir, log, postgres, port/],
  ["no YAML", {}, {}, "a: [", /is not YAML: .*line 1/],
  ["no names", {}, {}, "- 1", /must have names and values/],
] as const) {
  test(`${what} that cannot be is refused by its place`, async () => {
    await assert.rejects(read(values, env, yaml), { message: said });
  });
}

test("a file that is not there is refused by its path", async () => {
  const reading = serveSettings({ values: { config: "/no/such" }, env: {} } as never);
  await assert.rejects(reading, {
    message: /\/no\/such cannot be read/,
  });
});

test("the usage has a gap between every flag and its sentence", () => {
  for (const line of SERVE_USAGE.split("\n"))
    assert.match(line, /^ {2}(--[a-z-]+( FILE)?)? {2,}\S/);
});
