import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Call } from "../command.ts";
import { type ServeSettings, serveSettings } from "./settings.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-settings-"));
after(() => rmSync(folder, { recursive: true }));

function read(
  values: Call["values"],
  env: Record<string, string> = {},
  yaml?: string,
): ServeSettings {
  const config = join(folder, "sluice.yaml");
  if (yaml !== undefined) writeFileSync(config, yaml);
  const said = yaml === undefined ? values : { ...values, config };
  return serveSettings({ values: said, env } as unknown as Call);
}

test("what is said closer to the command wins", () => {
  const yaml = "port: 1\nhost: a\ndir: b";
  assert.deepEqual(read({ port: "3" }, { SLUICE_PORT: "2", SLUICE_HOST: "c" }, yaml), {
    port: 3,
    host: "c",
    dir: "b",
  });
});

test("flags, lists and numbers are read from each place", () => {
  const wanted = { keys: true, "allow-host": ["a", "b"], "adds-per-second": 5 };
  assert.deepEqual(read({ keys: true, "allow-host": ["a", "b"], "adds-per-second": "5" }), wanted);
  const env = { SLUICE_KEYS: "true", SLUICE_ALLOW_HOST: "a, b", SLUICE_ADDS_PER_SECOND: "5" };
  assert.deepEqual(read({}, env), wanted);
  assert.deepEqual(read({}, {}, "keys: true\nallow-host: [a, b]\nadds-per-second: 5"), wanted);
});

test("an empty variable is as good as none", () => {
  assert.deepEqual(read({}, { SLUICE_PORT: "" }), {});
});

for (const [what, values, env, yaml, said] of [
  ["an option", { port: "x" }, {}, undefined, /^--port must be a number .*"x"/],
  ["a variable", {}, { SLUICE_KEYS: "maybe" }, undefined, /^SLUICE_KEYS must be true or false/],
  ["a file", {}, {}, "port: []", /sluice.yaml: port must be a number/],
  ["an unknown name", {}, {}, "prot: 1", /prot is not known; known are dir, port/],
  ["no YAML", {}, {}, "a: [", /is not YAML: .*line 1/],
  ["no names", {}, {}, "- 1", /must have names and values/],
] as const) {
  test(`${what} that cannot be is refused by its place`, () => {
    assert.throws(() => read(values, env, yaml), { message: said });
  });
}

test("a file that is not there is refused by its path", () => {
  assert.throws(() => serveSettings({ values: { config: "/no/such" }, env: {} } as never), {
    message: /\/no\/such cannot be read/,
  });
});
