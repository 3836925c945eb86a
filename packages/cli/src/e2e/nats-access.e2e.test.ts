import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { nkeys } from "@nats-io/transport-node";
import { NatsServers } from "@sluice/log/testing";
import { Certificates } from "@sluice/server/testing";
import { addAll, job, take, textOf } from "../testing/jobs.ts";
import { createCluster, newDir, runSluice, spawnServe, start } from "../testing/spawn-serve.ts";

const EXIT_WRONG = 1;
const EXIT_USAGE = 2;

async function startNats(
  t: TestContext,
  config: string,
): Promise<{ nats: NatsServers; at: string }> {
  const nats = await NatsServers.start({ config });
  t.after(() => nats.stop());
  return { nats, at: nats.urls[0]!.slice("nats://".length) };
}

const dir = newDir();

/** Writes a text into a file, and answers where. */
function file(name: string, text: string): string {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
}

/**
 * A node and a copy are refused the same way, and the password is never shown. At once: a command
 * that waits as long as NATS may take to start is killed before that, and has no exit code.
 */
async function checkRefused(
  at: string,
  words: readonly string[],
  line: RegExp,
  exit = EXIT_WRONG,
): Promise<void> {
  const node = ["serve", "--port", "0", "--cluster", at, ...words];
  for (const command of [node, ["log", "copy", `${at}/jobs`, join(dir, "none"), ...words]]) {
    const { code, out, err } = await runSluice(command);
    const said = err.replace(/^\{.*\n/gm, "");
    assert.match(said, line, command.join(" "));
    assert.doesNotMatch(said, /secret/);
    assert.equal(out, "");
    assert.equal(code, exit, said);
  }
}

test("NATS that asks for TLS and a password gets both, and trusts in turn", async (t) => {
  const certificates = new Certificates(t);
  const ca = file("ca", certificates.authority("ca").cert);
  const other = file("other", certificates.authority("other").cert);
  // As many have them: for the address by which the server is called, and nothing else.
  const server = certificates.signed("server", "ca", { names: "IP:127.0.0.1" });
  const mine = certificates.signed("mine", "ca");
  const { at } = await startNats(
    t,
    [
      `tls { cert_file: "${file("cert", server.cert)}", key_file: "${file("key", server.key)}"`,
      `  ca_file: "${ca}", verify: true }`,
      `authorization { user: ann, password: "s/secret" }`,
    ].join("\n"),
  );
  const shown = ["--nats-cert", file("mine", mine.cert), "--nats-key", file("my-key", mine.key)];
  const words = ["--nats-ca", ca, ...shown];
  const place = `tls://ann:s%2Fsecret@${at}`;

  await createCluster(place, "--partitions", "1", ...words);
  const node = await spawnServe(t, ["--cluster", place, ...words]);
  const { broker } = await node.connect();
  await broker.setQueue("q", {});
  await addAll(broker, "q", [job("x")]);
  assert.equal(await node.end("SIGTERM"), 0);

  const copied = join(dir, "copied");
  const copy = await runSluice(["log", "copy", `${place}/sluice-0`, copied, ...words]);
  assert.equal(copy.code, 0, copy.err);
  assert.match(copy.out, new RegExp(`from tls://${at}/sluice-0 to `));
  const alone = await spawnServe(t, [], copied);
  const [found] = await take((await alone.connect()).broker, "q", 1);
  assert.equal(textOf(found!), "x");

  await checkRefused(`tls://ann:secret@${at}`, words, /refuses the login: .*Authorization/);
  await checkRefused(place, ["--nats-ca", other, ...shown], /^no TLS with tls:.*certificate/);
  await checkRefused(place, ["--nats-ca", ca], /it requires a client certificate/);
  await checkRefused(place, ["--nats-ca", "/no/such"], /^nats-ca: /, EXIT_USAGE);
  const half = ["--nats-cert", ca];
  await checkRefused(place, half, /--nats-cert and --nats-key must be given together/, EXIT_USAGE);
});

test("a token is a login, and tls:// says nothing to a server without TLS", async (t) => {
  const { at } = await startNats(t, 'authorization { token: "t0ken-secret" }');
  await createCluster(`nats://t0ken-secret@${at}`);
  const node = await spawnServe(t, ["--cluster", `nats://t0ken-secret@${at}`]);
  await (await node.connect()).broker.setQueue("q", {});
  assert.equal(await node.end("SIGTERM"), 0);
  await checkRefused(`nats://wrong-secret@${at}`, [], /refuses the login/);
  await checkRefused(`tls://t0ken-secret@${at}`, [], /^no TLS with tls:.*does not support/);
  await checkRefused(
    `nats://${at}`,
    ["--nats-creds", import.meta.filename],
    /credentials for NATS/,
    EXIT_USAGE,
  );
});

test("no JetStream and no permission are said at once; few permissions will do", async (t) => {
  const { at } = await startNats(
    t,
    `accounts {
       BARE { users: [{ user: bare, password: secret }] }
       FULL { jetstream: enabled, users: [
         { user: mute, password: secret, permissions: { publish: "none" } }
         { user: nolog, password: secret, permissions: { publish: { deny: "sluice.log.>" } } }
         { user: nobeat, password: secret, permissions: { subscribe: { deny: "sluice.beat.>" } } }
         { user: noentry, password: secret, permissions: { publish: { deny: "$KV.>" } } }
         { user: node, password: secret, permissions: {
           publish: ["$JS.API.>", "$JS.FC.>", "$KV.sluice.>", "sluice.log.>", "sluice.beat.>"]
           subscribe: ["_INBOX.>", "sluice.beat.>"]
         } }
       ] }
     }`,
  );
  for (const [user, what] of [
    ["nolog", "publish to sluice.log.sluice-check"],
    ["nobeat", "subscribe to sluice.beat.sluice"],
    ["noentry", "publish to $KV.sluice.check"],
  ]) {
    const words = ["serve", "--port", "0", "--cluster", `nats://${user}:secret@${at}`];
    const { code, err } = await runSluice(words);
    assert.equal(code, EXIT_WRONG, err);
    const said = err.replace(/^\{.*\n/gm, "");
    assert.match(said, /^nats:[^\n]* does not permit this login to [^\n]*\n$/);
    assert.ok(said.includes(what!), said);
  }
  await checkRefused(`nats://bare:secret@${at}`, [], /JetStream|jetstream/);
  await checkRefused(`nats://mute:secret@${at}`, [], /[Pp]ermission/);
  const place = `nats://node:secret@${at}`;
  await createCluster(place, "--partitions", "2");
  const node = await spawnServe(t, ["--cluster", place]);
  const { broker } = await node.connect();
  await broker.setQueue("q", {});
  await addAll(broker, "q", [job("x")]);
  const [found] = await take(broker, "q", 1);
  assert.deepEqual(await broker.ack([{ lease: found!.lease }]), [{ ok: true }]);
});

test("NATS that starts later is waited for, and the password is not in what is said", async (t) => {
  const { nats, at } = await startNats(t, 'authorization { user: ann, password: "secret" }');
  await createCluster(`nats://ann:secret@${at}`);
  await nats.kill(0);
  const words = ["serve", "--port", "0", "--cluster", `nats://ann:secret@${at}`];
  const child = start([...words, "--log-level", "silent"]);
  t.after(() => child.kill("SIGKILL"));
  const said = Promise.withResolvers<string>();
  const up = Promise.withResolvers<string>();
  let [out, err] = ["", ""];
  child.stderr!.on("data", (text) => {
    err += text;
    if (err.includes("waiting for NATS")) said.resolve(err);
  });
  child.stdout!.on("data", (text) => {
    out += text;
    if (out.includes("sluice top")) up.resolve(out);
  });
  child.once("exit", () => up.reject(new Error(`it ended: ${err}`)));
  assert.match(await said.promise, /waiting for NATS: no NATS server answers at .*refused\n/);
  await nats.restart(0);
  assert.match(await up.promise, new RegExp(`data +nats://${at} \\(cluster sluice, node `));
  assert.doesNotMatch(`${out}${err}`, /secret/);
});

test("an NKEY is a login, and JetStream may be in a domain", async (t) => {
  const pair = nkeys.createUser();
  const { at } = await startNats(
    t,
    `authorization { users: [{ nkey: ${pair.getPublicKey()} }] }
     jetstream { domain: hub, store_dir: "${newDir()}" }`,
  );
  const seed = file("nkey", `${new TextDecoder().decode(pair.getSeed())}\n`);
  const words = ["--nats-nkey", seed, "--nats-domain", "hub"];
  await createCluster(`nats://${at}`, "--partitions", "1", ...words);
  const node = await spawnServe(t, ["--cluster", `nats://${at}`, ...words]);
  await (await node.connect()).broker.setQueue("q", {});
  const shown = await runSluice(["cluster"], { SLUICE_URL: node.address });
  assert.match(shown.out, /n1/);
  assert.equal(await node.end("SIGTERM"), 0);
  const prefix = ["--nats-nkey", seed, "--nats-api-prefix", "$JS.hub.API"];
  const again = await spawnServe(t, ["--cluster", `nats://${at}`, ...prefix]);
  assert.equal((await (await again.connect()).broker.queue("q")).name, "q");
  const other = ["--nats-nkey", seed, "--nats-domain", "spoke"];
  await checkRefused(`nats://${at}`, other, /JetStream/i);
  const wrong = ["--nats-nkey", import.meta.filename];
  await checkRefused(`nats://${at}`, wrong, /^the NKEY seed for NATS cannot be read/, EXIT_USAGE);
  await checkRefused(`nats://a:secret@${at}`, words, /use either .* not both/, EXIT_USAGE);
});
