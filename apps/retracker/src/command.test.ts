import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { main, page, Retracker } from "./index.ts";

const LOCAL = ["--listen", "127.0.0.1:0", "--udp-listen", "127.0.0.1:0", "--durability", "memory"];

async function run(flags: readonly string[]): Promise<{ code: number; lines: string[] }> {
  const lines: string[] = [];
  const ending = new AbortController();
  const print = (line: string): void => {
    lines.push(line);
    if (line.includes("forwarders")) ending.abort();
  };
  const code = await main(flags, { environment: {}, print, signal: ending.signal });
  return { code, lines };
}

test("a start without forwarders says where it listens and how to add some", async () => {
  const { code, lines } = await run(LOCAL);
  assert.equal(code, 0);
  assert.match(lines.join("\n"), /http:\/\/127\.0\.0\.1:\d+\/announce/);
  assert.match(lines.join("\n"), /udp:\/\/127\.0\.0\.1:\d+\/announce/);
  assert.match(lines.join("\n"), /--forwarders FILE/);
});

test("a private tracker starts with the count of its keys, and offers no forwarders", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-retracker-"));
  const file = join(dir, "keys");
  const [answer] = (await run(["--make-passkey", "ann"])).lines;
  const [, path, line] = /^ann announces to (\S+)\n.*:\n(.*)$/.exec(answer!) ?? [];
  assert.match(path!, /^\/[0-9a-f]{32}\/announce$/);
  writeFileSync(file, `${line}\n`);
  const flags = [...LOCAL, "--private", "--passkeys-file", file];
  const lines: string[] = [];
  const ending = new AbortController();
  const print = (text: string): void => {
    lines.push(text);
    if (text.startsWith("private")) setImmediate(() => process.emit("SIGHUP"));
    if (text.startsWith("retracker:")) ending.abort();
  };
  assert.equal(await main(flags, { environment: {}, print, signal: ending.signal }), 0);
  assert.doesNotMatch(lines.join("\n"), /forwarders/);
  assert.equal(lines.includes("private   1 passkeys; nothing is forwarded"), true);
  assert.equal(lines.at(-1), "retracker: reloaded, 1 passkeys");
  assert.equal((await run(["--make-passkey"])).code, 2);
  rmSync(dir, { recursive: true });
});

test("a wrong flag is reported and sets the exit code; --help exits with 0", async () => {
  const wrong = await run(["--announce-interval", "soon"]);
  assert.equal(wrong.code, 2);
  assert.match(wrong.lines[0]!, /announce_interval must be a whole number/);
  const help = await run(["--help"]);
  assert.equal(help.code, 0);
  assert.match(help.lines[0]!, /--forwarder-workers +10 +announces to forwarders at once/);
  const tooWide = help.lines[0]!.split("\n").filter((line) => line.length > 120);
  assert.deepEqual(tooWide, []);
});

test("a missing list stops the start, and --version prints the version", async () => {
  const { code, lines } = await run([...LOCAL, "--forwarders", "nosuch.yml"]);
  assert.equal(code, 1);
  assert.match(lines.join("\n"), /nosuch\.yml cannot be read/);
  const denied = await run([...LOCAL, "--deny-file", "nosuch.txt"]);
  assert.equal(denied.code, 1);
  assert.match(denied.lines.join("\n"), /deny_file nosuch\.txt cannot be read/);
  assert.match((await run(["--version"])).lines[0]!, /^sluice retracker \d+\.\d+\.\d+/);
  assert.match((await run(["-h"])).lines[0]!, /--forwarder-workers/);
});

test("SIGHUP reads the list again, and the console shows the figures", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-retracker-"));
  const forwarders = join(dir, "list.yml");
  writeFileSync(forwarders, "- uri: udp://127.0.0.1:9/announce\n");
  const ending = new AbortController();
  const lines: string[] = [];
  const print = (line: string): void => {
    lines.push(line);
    if (line === "forwarders 1") {
      writeFileSync(forwarders, "- uri: udp://127.0.0.1:9/announce\n- uri: nothing\n");
      // After the greeting, when a listener for the signal is installed.
      setImmediate(() => process.emit("SIGHUP"));
    }
    if (line.includes("hashes,")) ending.abort();
  };
  const flags = [...LOCAL, "--forwarders", forwarders, "--stats-interval", "1"];
  const code = await main(flags, { environment: {}, print, signal: ending.signal });
  assert.equal(code, 0);
  const text = lines.join("\n");
  assert.match(text, /list\.yml:2: uri must be an address/);
  assert.match(text, /retracker: reloaded, 1 forwarders/);
  assert.match(text, /0 hashes, 0 peers, 0 announces; queue 0 \(0 %\), \d+ workers; forwarders 1/);
  rmSync(dir, { recursive: true });
});

test("reports a port that is in use, and closes what it had opened", async () => {
  const taken = createSocket("udp4").bind(0, "127.0.0.1");
  await once(taken, "listening");
  const free = createServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  const { port } = free.address() as { port: number };
  free.close();
  await once(free, "close");
  const dir = mkdtempSync(join(tmpdir(), "sluice-retracker-"));
  const flags = ["--listen", `127.0.0.1:${port}`, "--dir", dir, "--udp-listen"];
  const { code, lines } = await run([...flags, `127.0.0.1:${taken.address().port}`]);
  assert.equal(code, 1);
  assert.match(lines.join("\n"), /EADDRINUSE/);
  // The same port and the same data are to be had.
  assert.equal((await run([...flags, "127.0.0.1:0"])).code, 0);
  taken.close();
  rmSync(dir, { recursive: true });
});

test("the page shows forwarders, reloads them and switches them", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-retracker-"));
  const forwarders = join(dir, "list.yml");
  writeFileSync(forwarders, "- uri: udp://127.0.0.1:9/announce\n  name: one\n");
  await using retracker = await Retracker.open({
    settings: {
      listen: "127.0.0.1:0",
      udp_listen: "",
      durability: "memory",
      forwarders,
    },
  });
  const { view, act } = page(retracker);
  const tableOf = async (): Promise<unknown[][]> => {
    const { sections } = await view();
    const table = sections.find(({ title }) => title === "Forwarders");
    return table?.kind === "table" ? table.rows : [];
  };
  assert.deepEqual(
    (await tableOf()).map((row) => row.slice(0, 3)),
    [["one", "udp", "active"]],
  );
  assert.equal(await act!("off", { name: "one" }), "one is off");
  assert.equal((await tableOf())[0]![2], "off");
  await assert.rejects(act!("off", { name: "two" }), /no forwarder called "two"/);
  await assert.rejects(act!("fly", {}), /no action fly/);
  writeFileSync(forwarders, "- uri: udp://127.0.0.1:9/announce\n  name: one\n- uri: nothing\n");
  assert.match(String(await act!("reload", {})), /list\.yml:3: uri must be an address/);
  writeFileSync(forwarders, "- uri: udp://127.0.0.1:9/announce\n  name: two\n");
  assert.equal(await act!("reload", {}), "1 forwarders");
  rmSync(dir, { recursive: true });
});
