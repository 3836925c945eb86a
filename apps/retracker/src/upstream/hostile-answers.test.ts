import assert from "node:assert/strict";
import { test } from "node:test";
import { HttpUpstream, told } from "../testing/http-upstream.ts";
import { peersIn, specsOf, TestApp } from "../testing/scene.ts";
import { believe } from "./believe.ts";
import type { Answered } from "./outcome.ts";

const bytesOf = (address: string): string =>
  String.fromCharCode(...address.split(".").map(Number), 0, 80);

const ADDRESSES = [
  "127.0.0.1",
  "10.0.0.1",
  "192.168.1.1",
  "0.0.0.0",
  "224.0.0.1",
  "255.255.255.255",
  "169.254.169.254",
  "1.2.3.4",
];

const ANSWER: Answered = {
  kind: "answer",
  intervalSeconds: 1800,
  complete: 2 ** 32 - 1,
  incomplete: 2 ** 32 - 1,
  v4: Buffer.from(ADDRESSES.map(bytesOf).join(""), "latin1"),
  v6: Buffer.from(
    ["20010470000000000000000000000001", "00".repeat(16), `ff02${"00".repeat(13)}01`, "fe80"]
      .map((hex) => `${hex.padEnd(32, "0")}0050`)
      .join(""),
    "hex",
  ),
  trackerId: undefined,
  externalIp: undefined,
};

test("a forwarder of a remote list names public peers only", () => {
  const [spec] = specsOf(["http://tracker.example.org/announce"]);
  const { v4, v6 } = believe(ANSWER, { ...spec!, isPublicOnly: true });
  assert.equal(v4.toString("latin1"), bytesOf("1.2.3.4"));
  assert.equal(v6.length, 18);
});

test("a forwarder of the operator's list may name private peers, none invalid", async () => {
  const peers = ANSWER.v4.toString("latin1");
  await using up = await HttpUpstream.open(() => told({ peers, complete: 2 ** 32 - 1 }));
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  await scene.announce();
  await scene.settled();
  const answer = await scene.announce();
  const wanted = ["1.2.3.4", "10.0.0.1", "127.0.0.1", "169.254.169.254", "192.168.1.1"];
  assert.deepEqual(
    peersIn(answer),
    wanted.map((address) => `${address}:80`),
  );
  assert.equal(answer.get("complete"), 1_000_000);
});
