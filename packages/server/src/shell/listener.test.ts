import assert from "node:assert/strict";
import type { IncomingMessage, RequestListener, Server } from "node:http";
import { Duplex } from "node:stream";
import { type TestContext, test } from "node:test";
import { parseLimits } from "@sluice/protocol";
import { turns } from "@sluice/protocol/testing";
import { UNANSWERED_MAX } from "../limits.ts";
import { countApart, newServer } from "./listener.ts";

/** A connection as the server sees it; addresses are beyond what a test on one machine can have. */
class Connection extends Duplex {
  readonly remoteAddress: string;
  readonly remotePort: number;

  constructor(remoteAddress: string, remotePort: number) {
    super();
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
  }

  override _read(): void {}

  override _write(_: unknown, __: string, done: () => void): void {
    done();
  }

  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }
}

function connecting(t: TestContext, server: Server): (address: string) => Connection {
  const made: Connection[] = [];
  t.after(() => made.forEach((one) => void one.destroy()));
  return (address) => {
    const connection = new Connection(address, made.length);
    made.push(connection);
    server.emit("connection", connection);
    return connection;
  };
}

test("one address has so many connections, whatever others have; this machine as it likes", (t) => {
  const server = newServer(() => {}, { ...parseLimits(), connectionsPerAddressMax: 3 }, undefined);
  const connect = connecting(t, server);
  const first = [1, 2, 3].map(() => connect("192.0.2.1"));
  assert.ok(first.every(({ destroyed }) => !destroyed));
  assert.ok(connect("192.0.2.1").destroyed, "one too many");
  assert.ok(!connect("192.0.2.2").destroyed);
  for (let i = 0; i < 9; i++) assert.ok(!connect("::ffff:127.0.0.1").destroyed);
  first[0]!.emit("close");
  assert.ok(!connect("192.0.2.1").destroyed, "one has left");
});

test("a connection that has become a stream is counted with those", (t) => {
  const server = newServer(() => {}, { ...parseLimits(), connectionsPerAddressMax: 1 }, undefined);
  const connect = connecting(t, server);
  const stream = connect("192.0.2.1");
  assert.ok(connect("192.0.2.1").destroyed);
  countApart(server, { socket: stream } as unknown as IncomingMessage);
  const next = connect("192.0.2.1");
  assert.ok(!next.destroyed);
  stream.emit("close");
  assert.ok(connect("192.0.2.1").destroyed, "it is not counted off twice");
});

const GET = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";

test("closes a connection with too many unanswered requests, and handles no more", async (t) => {
  let handled = 0;
  const server = newServer(() => handled++, parseLimits(), undefined);
  const connection = connecting(t, server)("127.0.0.1");
  connection.push(GET.repeat(UNANSWERED_MAX));
  await turns(2);
  assert.ok(!connection.destroyed);
  connection.push(GET.repeat(100));
  await turns(2);
  assert.ok(connection.destroyed);
  assert.equal(handled, UNANSWERED_MAX);
});

test("a connection may have any number of requests if they are answered", async (t) => {
  let handled = 0;
  const answer: RequestListener = (_, response) => {
    handled++;
    response.end();
  };
  const connection = connecting(t, newServer(answer, parseLimits(), undefined))("127.0.0.1");
  for (let round = 0; round < 10; round++) {
    connection.push(GET.repeat(UNANSWERED_MAX));
    await turns(2);
  }
  assert.ok(!connection.destroyed);
  assert.equal(handled, 10 * UNANSWERED_MAX);
});
