// Whatever comes from outside: no parser throws anything but its own error, none takes long, and
// what a good text loses in a mutation is refused or read, never half of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readHead } from "./http/head.ts";
import { BadRequest, parseAnnounce, parseScrape } from "./http/parse-announce.ts";
import { parseFile } from "./settings/read-settings.ts";
import { SettingsError } from "./settings/settings.ts";
import { queryOf } from "./testing/scene.ts";
import { announceRequest, readAnnounce, readScrape, readUrlData } from "./udp/packets.ts";
import { parseForwarders } from "./upstream/forwarder-list.ts";
import { readAnswer } from "./upstream/read-answer.ts";
import { BencodeError, decode, encode } from "./wire/bencode.ts";

const INPUTS = 20_000;
const SLOWEST_MS = 50;
/** The parser of YAML takes some 100 µs for this much. */
const YAML_BYTES_MAX = 128;

/** A generator of its own, so that a failure can be made again from its seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Flips, cuts, doubles and inserts a few bytes. */
function mutate(bytes: Buffer, random: () => number, bytesMax: number): Buffer {
  let out = Buffer.from(bytes);
  const changes = 1 + Math.floor(random() * 6);
  for (let i = 0; i < changes; i++) {
    const at = Math.floor(random() * (out.length + 1));
    const kind = Math.floor(random() * 5);
    if (kind === 0 && at < out.length) out[at] = Math.floor(random() * 256);
    else if (kind === 1) out = out.subarray(0, at);
    else if (kind === 2) out = Buffer.concat([out.subarray(0, at), out]);
    else if (kind === 3) {
      const piece = Buffer.from(PIECES[Math.floor(random() * PIECES.length)]!, "latin1");
      out = Buffer.concat([out.subarray(0, at), piece, out.subarray(at)]);
    } else if (at < out.length) out = Buffer.concat([out.subarray(0, at), out.subarray(at + 1)]);
    if (out.length > bytesMax) out = out.subarray(0, bytesMax);
  }
  return out;
}

const PIECES = [
  "d",
  "l",
  "e",
  "i-1e",
  "99999999:",
  "%",
  "%0",
  "&",
  "=",
  "\0",
  "\xff",
  "__proto__",
  "\r\n",
  "- ",
  "{",
  "&a *a",
];

function fuzz(seeds: readonly Buffer[], read: (bytes: Buffer) => void, bytesMax = 4096): void {
  const seed = Math.floor(Math.random() * 2 ** 32);
  const random = randomOf(seed);
  for (let i = 0; i < INPUTS; i++) {
    const bytes = mutate(seeds[i % seeds.length]!, random, bytesMax);
    const from = performance.now();
    try {
      read(bytes);
    } catch (error) {
      throw new Error(`seed ${seed}, input ${i}: ${bytes.toString("hex")}`, { cause: error });
    }
    const took = performance.now() - from;
    // The machine may be busy, so only what takes long again is slow.
    if (took > SLOWEST_MS)
      assert.ok(again(read, bytes) < SLOWEST_MS, `slow: ${bytes.toString("hex")}`);
  }
}

function again(read: (bytes: Buffer) => void, bytes: Buffer): number {
  const from = performance.now();
  read(bytes);
  return performance.now() - from;
}

/** Runs a parser that may refuse with an error of its own. */
function lenient(run: () => void, own: abstract new (...args: never[]) => Error): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof own)) throw error;
  }
}

const ANSWER = encode(
  new Map<string, never>(
    Object.entries({
      complete: 1,
      interval: 1800,
      peers: "\x0a\x01\x01\x01\x1a\xe1",
      peers6: "x".repeat(18),
      "failure reason": "no",
      "retry in": "5",
    }) as never,
  ),
);

test("bencode", () => {
  fuzz([ANSWER, Buffer.from("d1:ad1:bl1:ci5eeee")], (bytes) => {
    lenient(
      () => assert.deepEqual(decode(encode(decode(bytes) as never)), decode(bytes)),
      BencodeError,
    );
    assert.ok(["answer", "failed", "later", "never"].includes(readAnswer(bytes).kind));
  });
});

test("query strings and heads of HTTP", () => {
  const query = Buffer.from(queryOf({ event: "started", numwant: 50, ip: "1.2.3.4" }), "latin1");
  fuzz([query], (bytes) => {
    const text = bytes.toString("latin1");
    lenient(() => {
      const announce = parseAnnounce(text, "\x7f\0\0\x01");
      assert.equal(announce.hash.length, 20);
      assert.ok(announce.port >= 1 && announce.port <= 65535);
      assert.ok(announce.numwant >= 0 && announce.numwant <= 200);
    }, BadRequest);
    lenient(() => parseScrape(text), BadRequest);
    const head = readHead(`GET /announce?${text} HTTP/1.1\r\nHost: x\r\n\r\n`, 0);
    assert.ok(head === undefined || "status" in head || head.end > 0);
  });
});

test("UDP packets", () => {
  const announce = {
    hash: "h".repeat(20),
    peerId: "p".repeat(20),
    address: "",
    port: 6881,
    uploaded: 0,
    downloaded: 2n ** 64n - 1n,
    left: 1,
    event: 2 as const,
    key: 1,
    numwant: -1,
  };
  const shared = { connectionId: Buffer.alloc(8), transaction: 1, announce, ip: undefined };
  const packet = announceRequest({ ...shared, path: "/announce?key=1" });
  fuzz([packet], (bytes) => {
    const read = readAnnounce(bytes, "\x7f\0\0\x01");
    if (read !== undefined) {
      assert.ok(read.numwant >= 0 && read.numwant <= 200);
      assert.ok(read.event >= 0 && read.event <= 3);
    }
    assert.ok((readScrape(bytes)?.length ?? 1) <= 74);
    readUrlData(bytes);
  });
});

test("lists of forwarders and configurations", () => {
  const list = Buffer.from(
    "- uri: udp://a.example:80/announce\n  name: a\n  rate: 5\n- http://b.example/ann\n",
  );
  fuzz(
    [list],
    (bytes) => {
      const { specs, problems } = parseForwarders(bytes.toString("utf8"), "list.yml");
      assert.ok(specs.every(({ uri }) => URL.canParse(uri)));
      assert.ok(problems.every((problem) => problem.startsWith("list.yml:")));
    },
    YAML_BYTES_MAX,
  );
  const config = Buffer.from("listen: :6969\nage: 180\nallow: []\ndebug: true\n");
  fuzz(
    [config],
    (bytes) => {
      lenient(() => parseFile(bytes.toString("utf8"), "config.yml"), SettingsError);
    },
    YAML_BYTES_MAX,
  );
});
