import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import pg from "pg";
import { bindInParts } from "./bind-in-parts.ts";

const LARGE = Buffer.alloc(300_000, 7);
const SMALL = Buffer.from([0, 255, 1]);

interface Sent {
  readonly connection: pg.Connection;
  readonly parts: Buffer[];
}

function sending(): Sent {
  const parts: Buffer[] = [];
  const stream = new Writable({
    write(part: Buffer, _encoding, done) {
      parts.push(part);
      done();
    },
  });
  return { connection: new pg.Connection({ stream } as never), parts };
}

function sent(values: readonly unknown[], isInParts: boolean): Buffer[] {
  const { connection, parts } = sending();
  if (isInParts) bindInParts(connection);
  const config = { portal: "", statement: "sluice-insert-2", values, binary: false };
  connection.bind({ ...config, valueMapper: mapped } as never, false);
  return parts;
}

// As `pg` does it for what the log sends.
function mapped(value: unknown): unknown {
  if (value === null || value === undefined) return null;
  return value instanceof Uint8Array ? value : String(value);
}

const CASES: readonly (readonly [string, readonly unknown[]])[] = [
  ["one large value", [1, 2, 3, 4, LARGE]],
  ["several large values", [1, 2 ** 40, 3, 4, LARGE, 5, LARGE, 6, LARGE.subarray(5)]],
  ["large and small values", [-1, SMALL, LARGE, "ä", SMALL]],
  ["a null before and behind a large value", [null, LARGE, undefined]],
  ["small values only", [1, SMALL, "text", null]],
  ["no values", []],
];

for (const [name, values] of CASES) {
  test(`sends the same bytes as pg: ${name}`, () => {
    const own = Buffer.concat(sent(values, true));
    assert.equal(Buffer.compare(own, Buffer.concat(sent(values, false))), 0);
  });
}

test("sends a large value from where it is", () => {
  assert.ok(sent([1, LARGE], true).some((part) => part.buffer === LARGE.buffer));
});

test("sends nothing on a connection that has ended", () => {
  const { connection, parts } = sending();
  bindInParts(connection);
  connection.stream.destroy();
  connection.bind({ values: [LARGE], valueMapper: mapped } as never, false);
  assert.deepEqual(parts, []);
});
