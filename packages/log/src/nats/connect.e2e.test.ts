import assert from "node:assert/strict";
import { test } from "node:test";
import { nkeys } from "@nats-io/transport-node";
import { NatsServers } from "../testing/nats-servers.ts";
import { connectNats } from "./connect.ts";
import { NatsLink } from "./nats-link.ts";
import { NatsLog } from "./nats-log.ts";

type KeyPair = ReturnType<typeof nkeys.createUser>;

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A JWT as NATS uses it: the issuer's claims about the subject, signed by the issuer's key. */
function jwt(issuer: KeyPair, subject: KeyPair, type: string, nats: object = {}): string {
  const claims = {
    ...{ jti: type, iat: 1, iss: issuer.getPublicKey(), sub: subject.getPublicKey(), name: type },
    nats: { ...nats, type, version: 2 },
  };
  const text = `${encode({ typ: "JWT", alg: "ed25519-nkey" })}.${encode(claims)}`;
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString("base64url")}`;
}

const NO_LIMITS = {
  ...{ subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1 },
  ...{ leaf: -1, mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 },
};

function credsOf(account: KeyPair, user: KeyPair): Buffer {
  const token = jwt(account, user, "user", { subs: -1, data: -1, payload: -1 });
  return Buffer.from(
    [
      ...["-----BEGIN NATS USER JWT-----", token, "------END NATS USER JWT------", ""],
      ...["-----BEGIN USER NKEY SEED-----", Buffer.from(user.getSeed()).toString()],
      ...["------END USER NKEY SEED------", ""],
    ].join("\n"),
  );
}

test("credentials of an account open a log, and those of another are refused at once", async () => {
  const operator = nkeys.createOperator();
  const [account, system, stranger] = [1, 2, 3].map(() => nkeys.createAccount()) as KeyPair[];
  const limits = { limits: NO_LIMITS };
  const servers = await NatsServers.start({
    config: [
      `operator: "${jwt(operator, operator, "operator")}"`,
      "resolver: MEMORY",
      `system_account: ${system!.getPublicKey()}`,
      `resolver_preload: {`,
      `  ${account!.getPublicKey()}: "${jwt(operator, account!, "account", limits)}"`,
      `  ${system!.getPublicKey()}: "${jwt(operator, system!, "account")}"`,
      "}",
    ].join("\n"),
  });
  try {
    const creds = credsOf(account!, nkeys.createUser());
    const connection = await connectNats(servers.urls, { creds });
    const log = await NatsLog.open({ connection, stream: "jobs" });
    for await (const _ of log.replay()) assert.fail("it is new");
    await log.append(Buffer.from("a fact"));
    await log.close();
    await connection.close();
    const refused = connectNats(servers.urls, { creds: credsOf(stranger!, nkeys.createUser()) });
    await assert.rejects(refused, { code: "UNAUTHORIZED" });
  } finally {
    await servers.stop();
  }
});

test("refuses an invalid credentials file before it connects to a server", async () => {
  const refused = connectNats(["nats://127.0.0.1:1"], { creds: Buffer.from("none") });
  await assert.rejects(refused, { code: "INVALID" });
});

test("a server that was left is passed over while there is another one", async () => {
  const servers = await NatsServers.start({ count: 3 });
  try {
    const connection = await connectNats(servers.urls, { first: 0 });
    const link = NatsLink.of(connection);
    const visited = [connection.getServer()];
    const leave = async (): Promise<void> => {
      const before = connection.getServer();
      const there = Promise.withResolvers<void>();
      const stop = link.onChange(() => {
        if (link.isUp && connection.getServer() !== before) there.resolve();
      });
      link.leaveServer();
      await there.promise;
      stop();
      visited.push(connection.getServer());
    };
    await leave();
    await leave();
    assert.equal(new Set(visited).size, 3, visited.join());
    // All were left: one of them it must be.
    await leave();
    assert.ok(visited.slice(0, 3).includes(connection.getServer()));
    await connection.close();
  } finally {
    await servers.stop();
  }
});
