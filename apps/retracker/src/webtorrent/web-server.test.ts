import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { WebSocket } from "ws";
import { makePasskey } from "../passkeys.ts";
import { hashOf, peerOf, TestApp } from "../testing/scene.ts";

class Browser implements AsyncDisposable {
  readonly #socket: WebSocket;
  readonly #received: Record<string, unknown>[] = [];
  #wake = (): void => {};

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => {
      this.#received.push(JSON.parse(String(data)));
      this.#wake();
    });
  }

  static async open(scene: TestApp, path = "/announce"): Promise<Browser> {
    const socket = new WebSocket(`ws://127.0.0.1:${scene.retracker.ports.http}${path}`);
    const browser = new Browser(socket);
    await once(socket, "open");
    return browser;
  }

  announce(peer: string, more: Record<string, unknown> = {}): void {
    const ids = { info_hash: hashOf("hash"), peer_id: peerOf(peer) };
    this.send({ action: "announce", ...ids, left: 1, numwant: 5, offers: [], ...more });
  }

  send(message: unknown): void {
    this.#socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  async next(): Promise<Record<string, unknown>> {
    while (this.#received.length === 0) await new Promise<void>((wake) => (this.#wake = wake));
    return this.#received.shift()!;
  }

  async closed(): Promise<number> {
    const [code] = await once(this.#socket, "close");
    return code as number;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    this.#socket.terminate();
    await once(this.#socket, "close");
  }
}

const OFFER = { offer: { type: "offer", sdp: "v=0" }, offer_id: "o1" };

test("offers reach another browser, and its answer comes back", async () => {
  await using scene = await TestApp.open();
  await using one = await Browser.open(scene);
  await using two = await Browser.open(scene, "/");
  one.announce("one", { left: 0 });
  const first = await one.next();
  assert.deepEqual(
    [first.action, first.interval, first.complete, first.incomplete, first.info_hash],
    ["announce", 360, 1, 0, hashOf("hash")],
  );
  two.announce("two", { offers: [OFFER, OFFER] });
  assert.equal((await two.next()).incomplete, 1);
  const offered = await one.next();
  assert.deepEqual(
    [offered.offer, offered.offer_id, offered.peer_id],
    [OFFER.offer, "o1", peerOf("two")],
  );
  const answer = { type: "answer", sdp: "v=1" };
  one.announce("one", { answer, offer_id: "o1", to_peer_id: peerOf("two") });
  const answered = await two.next();
  assert.deepEqual([answered.answer, answered.peer_id], [answer, peerOf("one")]);
  assert.equal((await scene.retracker.statistics()).web_peers, 2);
});

test("a connection whose passkey is revoked gets failures, and its peer leaves", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-retracker-"));
  const passkeys_file = join(dir, "keys");
  const [ann, bob] = [makePasskey("ann"), makePasskey("bob")];
  writeFileSync(passkeys_file, `${ann.line}\n${bob.line}\n`);
  await using scene = await TestApp.open({ settings: { private: true, passkeys_file } });
  await using browser = await Browser.open(scene, `/${ann.key}/announce`);
  browser.announce("ann");
  assert.equal((await browser.next()).incomplete, 1);
  const [{ announces } = { announces: -1 }] = (await scene.retracker.statistics()).passkeys;
  assert.equal(announces, 1);
  writeFileSync(passkeys_file, `${bob.line}\n`);
  assert.deepEqual(await scene.retracker.reload(), []);
  browser.announce("ann");
  assert.match(String((await browser.next())["failure reason"]), /unknown passkey/);
  assert.equal(await browser.closed(), 1008);
  assert.equal((await scene.retracker.statistics()).web_peers, 0);
  rmSync(dir, { recursive: true });
});

test("a peer id belongs to one connection, until it closes", async () => {
  await using scene = await TestApp.open();
  await using victim = await Browser.open(scene);
  victim.announce("victim", { left: 0 });
  await victim.next();
  {
    await using stranger = await Browser.open(scene);
    stranger.announce("victim", { event: "stopped" });
    assert.equal((await stranger.next()).complete, 1);
    stranger.announce("victim");
    assert.match(String((await stranger.next())["failure reason"]), /in use/);
    stranger.announce("other");
    assert.equal((await stranger.next()).incomplete, 1);
    // Its connection ends without a word, and the peer with it.
  }
  while ((await scene.retracker.statistics()).web_peers > 1) await new Promise(setImmediate);
  victim.send({ action: "scrape", info_hash: hashOf("hash") });
  const { files } = (await victim.next()) as { files: Record<string, unknown> };
  assert.deepEqual(files[hashOf("hash")], { complete: 1, incomplete: 0, downloaded: 0 });
});

test("refuses invalid messages with a reason, and applies the lists of hashes", async () => {
  const deny = [Buffer.from(hashOf("hash"), "latin1").toString("hex")];
  await using scene = await TestApp.open({ settings: { deny } });
  await using browser = await Browser.open(scene);
  for (const [message, reason] of [
    ["no json", /JSON object/],
    [{ action: "fly" }, /action must be/],
    [{ action: "announce", info_hash: "short" }, /info_hash must be 20/],
    [{ action: "announce", info_hash: "\u0100".repeat(20) }, /info_hash must be 20/],
    [{ action: "scrape" }, /1 to 74 hashes/],
  ] as const) {
    browser.send(message);
    assert.match(String((await browser.next())["failure reason"]), reason);
  }
  browser.announce("a");
  assert.match(String((await browser.next())["failure reason"]), /denied/);
});

test("messages are bounded in size and number", async () => {
  await using scene = await TestApp.open();
  await using large = await Browser.open(scene);
  const closed = large.closed();
  large.send("x".repeat(200_000));
  assert.equal(await closed, 1009);
  await using many = await Browser.open(scene);
  const cut = many.closed();
  for (let i = 0; i < 600; i++) many.announce("many");
  assert.equal(await cut, 1008);
  assert.deepEqual(scene.errors, []);
});

test("there is no WebSocket where it is switched off, nor on other paths", async () => {
  await using scene = await TestApp.open({ settings: { webtorrent: false } });
  await assert.rejects(Browser.open(scene));
  await using open = await TestApp.open();
  await assert.rejects(Browser.open(open, "/stats"));
});
