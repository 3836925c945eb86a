import assert from "node:assert/strict";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { LIMITS } from "../limits.ts";
import { newServer } from "./listener.ts";

/** A connection as the server sees it; addresses are beyond what a test on one machine can have. */
class Connection extends Duplex {
  readonly remoteAddress: string;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
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

test("one address has so many connections, whatever others have; this machine as it likes", (t) => {
  const server = newServer(() => {}, { ...LIMITS, connectionsPerAddressMax: 3 }, undefined);
  const made: Connection[] = [];
  t.after(() => made.forEach((one) => void one.destroy()));
  const connect = (address: string): Connection => {
    const connection = new Connection(address);
    made.push(connection);
    server.emit("connection", connection);
    return connection;
  };
  const first = [1, 2, 3].map(() => connect("192.0.2.1"));
  assert.ok(first.every(({ destroyed }) => !destroyed));
  assert.ok(connect("192.0.2.1").destroyed, "one too many");
  assert.ok(!connect("192.0.2.2").destroyed);
  for (let i = 0; i < 9; i++) assert.ok(!connect("::ffff:127.0.0.1").destroyed);
  first[0]!.emit("close");
  assert.ok(!connect("192.0.2.1").destroyed, "one has left");
});
