import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makePasskey } from "./passkeys.ts";
import { HttpUpstream } from "./testing/http-upstream.ts";
import { announceTo, failureIn, TestApp } from "./testing/scene.ts";
import { UdpClient } from "./testing/udp-client.ts";

test("private mode requires a key, counts its announces and lets it be revoked", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-retracker-"));
  const passkeys_file = join(dir, "keys");
  const [ann, bob] = [makePasskey("ann"), makePasskey("bob")];
  writeFileSync(passkeys_file, `# users\n${ann.line}\n${bob.line}\nnonsense\n`);
  await using up = await HttpUpstream.open();
  const settings = { private: true, passkeys_file };
  await using scene = await TestApp.open({ settings, forwarders: [up.uri] });
  assert.match(String(scene.errors[0]), /keys:4: not a digest/);
  const ask = async (key: string): Promise<string> =>
    failureIn(await announceTo(`${scene.url}${key}/announce`, {}));
  assert.match(await ask(""), /unknown passkey/);
  assert.match(await ask("/0123"), /unknown passkey/);
  // The digest in the file is no key.
  assert.match(await ask(`/${ann.line.split(" ")[0]}`), /unknown passkey/);
  assert.equal(await ask(`/${ann.key}`), "");
  await using client = await UdpClient.open(scene.retracker.ports.udp!);
  await client.connect();
  assert.equal((await client.announce({})).readUInt32BE(0), 3);
  assert.equal((await client.announce({ path: `/${bob.key}/announce` })).readUInt32BE(0), 1);
  // A scrape over UDP has no place for a key.
  assert.equal((await client.scrape(["hash"])).readUInt32BE(0), 3);
  await scene.clock.advance("5s");
  const { passkeys, refused } = await scene.retracker.statistics();
  // Three over HTTP, two over UDP.
  assert.equal(refused, 5);
  assert.deepEqual(passkeys, [
    { name: "ann", announces: 1, last_used_seconds: 5 },
    { name: "bob", announces: 1, last_used_seconds: 5 },
  ]);
  writeFileSync(passkeys_file, `${bob.line}by\n`);
  assert.deepEqual(await scene.retracker.reload(), []);
  assert.match(await ask(`/${ann.key}`), /unknown passkey/);
  assert.equal(await ask(`/${bob.key}`), "");
  // The key of a user who was renamed is still the same one.
  const renamed = (await scene.retracker.statistics()).passkeys;
  assert.deepEqual(renamed, [{ name: "bobby", announces: 2, last_used_seconds: 0 }]);
  // What is private stays here.
  await scene.settled();
  assert.equal(up.asked.length, 0);
  rmSync(dir, { recursive: true });
});
