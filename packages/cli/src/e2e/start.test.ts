import assert from "node:assert/strict";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { firstLine, newDir, runSluice, spawnServe, start } from "../testing/spawn-serve.ts";

const NO_PEM = import.meta.filename;

test("reports in one line why a server cannot start", async (t) => {
  const dir = newDir();
  const { port } = await spawnServe(t, [], dir);
  const REFUSALS: readonly [words: string[], line: RegExp][] = [
    [["--port", String(port)], new RegExp(`^port ${port} of 127.0.0.1 is in use[^\n]*\n$`)],
    [["--dir", dir], /^the log in [^\n]* is in use by process \d+\. [^\n]*sluice serve[^\n]*\n$/],
    [["--log-level", "loud"], /^--log-level must be one of fatal, [^\n]*, got "loud"\n$/],
    [["--port", "high"], /^--port must be an integer from 0 to 65535, got "high"\n$/],
    [["--threads", "65"], /^--threads must be an integer from 1 to 64, got 65\n$/],
    [["--threads", "3", "--port", String(port)], /^port \d+ of 127.0.0.1 is in use[^\n]*\n$/],
    [["--resume", "2h"], /^--resume must be [^\n]* of at most 3600000 ms, got "2h"\n$/],
    [["--tls-cert", NO_PEM, "--tls-key", NO_PEM], /^tls must be a certificate [^\n]*\n$/],
    [["--dir", "nats://me:secret@a/jobs"], /^dir must be a directory, got nats:[^\n]* for NATS\n$/],
    [["--cluster", "nats://a"], /^dir is for a single server: [^\n]*\n$/],
    [["--host", "203.0.113.7", "--insecure"], /^203.0.113.7 is no address of this machine\n$/],
  ];
  await Promise.all(
    REFUSALS.map(async ([words, line]) => {
      const { code, out, err } = await runSluice([
        "serve",
        "--port",
        "0",
        "--dir",
        newDir(),
        ...words,
      ]);
      assert.match(err.replace(/^\{.*\n/gm, ""), line);
      assert.equal(out, "");
      // A value that makes no sense is 2; what the machine does not grant is 1.
      assert.equal(code, /must be|is for/.test(err) ? 2 : 1, words.join(" "));
    }),
  );
});

test("a person who starts a server is shown what to type, and its words lead to it", async (t) => {
  const server = await spawnServe(t, ["--durability", "memory", "--keys"]);
  assert.match(server.key!, /^sk_/);
  const env = { SLUICE_URL: server.address, SLUICE_API_KEY: server.key! };
  assert.equal((await runSluice(["add", "mail", '{"to":"a@b.c"}', "--create"], env)).code, 0);
  const { out } = await runSluice(["consume", "mail", "--count", "1"], env);
  assert.equal(out, '{"to":"a@b.c"}\n');
});

test("a server that npm started ends when npm's shell does", async (t) => {
  const shell = ["sh", "-c", '"$0" "$@" & echo $! >&2; wait'];
  const words = ["serve", "--json", "--port", "0", "--durability", "memory"];
  const child = start(words, { npm_lifecycle_script: "'sluice'" }, shell);
  const [pid] = await once(createInterface({ input: child.stderr! }), "line");
  await firstLine(child);
  t.after(() => {
    if (child.stdout!.destroyed === false) process.kill(Number(pid), "SIGKILL");
  });
  // As npx does. The server has the other end of this pipe.
  child.kill("SIGTERM");
  await once(child, "close");
});
