import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parseFile, readSettings } from "./read-settings.ts";
import { complete, DEFAULTS } from "./settings.ts";

test("defaults are those of the documentation", () => {
  const settings = readSettings({ flags: [], environment: {} });
  assert.equal(settings.listen, ":6969");
  assert.equal(settings.max_forwarder_workers, 20);
  assert.equal(settings.rate_limit_initial_per_sec, 10);
  assert.deepEqual({ ...settings, max_forwarder_workers: 0 }, DEFAULTS);
});

test("flags override the environment, it overrides the file, and the file the defaults", () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-retracker-"));
  const config = join(dir, "config.yml");
  writeFileSync(config, "age: 1\nretry_period: 2\nannounce_interval: 300\n");
  const settings = readSettings({
    flags: ["--config", config, "--age", "30", "--debug", "--allow="],
    environment: { RETRACKER_AGE: "20", RETRACKER_RETRY_PERIOD: "20", PATH: "/bin" },
  });
  assert.deepEqual(
    [settings.age, settings.retry_period, settings.announce_interval, settings.debug],
    [30, 20, 300, true],
  );
  assert.deepEqual(settings.allow, []);
  rmSync(dir, { recursive: true });
});

const BAD: readonly (readonly [string, RegExp])[] = [
  ["age: 180\nforwarder_worker: 3\n", /^c\.yml:2: "forwarder_worker" is not a known key/],
  ["age: soon\n", /^c\.yml:1: age must be a whole number from 1 to 10080, got "soon"/],
  ["\n\nlisten: 6969\n", /^c\.yml:3: listen must be ":port", "address:port"/],
  ["allow: [xyz]\n", /^c\.yml:1: allow must be a list of info hashes/],
  ["x_real_ip: [10.0.0.0/99]\n", /^c\.yml:1: x_real_ip must be a list of address ranges/],
  ["a: [\n", /^c\.yml:\d: /],
  ["- a\n", /^c\.yml:1: the file must be a map of settings/],
  ["durability: maybe\n", /^c\.yml:1: durability must be/],
];

for (const [text, message] of BAD) {
  test(`${JSON.stringify(text)} is refused with file and line`, () => {
    assert.throws(() => parseFile(text, "c.yml"), { message });
  });
}

test("unknown flags and variables are named", () => {
  assert.throws(
    () => readSettings({ flags: ["--agee", "1"], environment: {} }),
    /there is no option --agee/,
  );
  assert.throws(() => readSettings({ flags: ["--age"], environment: {} }), /--age needs a value/);
});

test("variables of other programs do not stop a start, and near misses cause warnings", () => {
  const warnings: string[] = [];
  const environment = {
    RETRACKER_PORT: "tcp://10.0.0.1:6969",
    RETRACKER_SERVICE_HOST: "10.0.0.1",
    RETRACKER_PORT_6969_TCP_ADDR: "10.0.0.1",
    RETRACKER_DEBUG: "1",
    RETRACKER_FORWARDER: "list.yml",
  };
  const onWarning = (text: string): void => void warnings.push(text);
  assert.equal(readSettings({ flags: [], environment, onWarning }).debug, true);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /^RETRACKER_FORWARDER is ignored: .* did you mean forwarders\?$/);
});

test("refuses a maximum of workers below the minimum, and takes twice the minimum if unset", () => {
  assert.throws(() => complete({ forwarder_workers: 10, max_forwarder_workers: 9 }), /at least/);
  assert.equal(complete({ forwarder_workers: 7 }).max_forwarder_workers, 14);
});

test("requires a key for a dashboard that others can reach", () => {
  for (const dashboard_listen of [":6970", "0.0.0.0:6970", "[::]:6970", "10.0.0.1:6970"]) {
    assert.throws(() => complete({ dashboard_listen }), /set dashboard_key/, dashboard_listen);
    assert.equal(complete({ dashboard_listen, dashboard_key: "k" }).dashboard_key, "k");
  }
  for (const dashboard_listen of ["", "127.0.0.1:6970", "[::1]:6970", "localhost:6970"]) {
    assert.equal(complete({ dashboard_listen }).dashboard_listen, dashboard_listen);
  }
});

test("the example has every setting with its default", () => {
  const file = join(import.meta.dirname, "../../../../docs/retracker.example.yml");
  const said = parseFile(readFileSync(file, "utf8"), "retracker.example.yml");
  assert.deepEqual(said, DEFAULTS);
});
