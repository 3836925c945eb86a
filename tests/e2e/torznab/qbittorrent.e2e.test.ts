// qBittorrent searches our service through its plugin interface, and downloads what it found.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { openIndexer, sampleItems, start } from "@sluice/torznab/testing";
import { freePort } from "../dashboard/server.ts";
import { needProgram } from "../debian.ts";

const PLUGIN = join(import.meta.dirname, "../../../examples/qbittorrent/sluice.py");
const KEY = "a-key-of-at-least-thirty-two-characters";
const PROGRAM = "qbittorrent-nox";
const ITEMS = 130;
const PATIENCE_MS = 60_000;

// A torrent of one empty piece: enough to be added and named.
const INFO = Buffer.concat([
  Buffer.from("d6:lengthi16384e4:name10:sample.bin12:piece lengthi16384e6:pieces20:"),
  createHash("sha1").update(Buffer.alloc(16_384)).digest(),
  Buffer.from("e"),
]);
const TORRENT = Buffer.concat([Buffer.from("d4:info"), INFO, Buffer.from("e")]);

class QBittorrent {
  readonly dir: string;
  readonly engines: string;
  #child: ChildProcess | undefined;
  #port = 0;
  #session = "";

  constructor(t: TestContext) {
    this.dir = mkdtempSync(join(tmpdir(), "sluice-qbittorrent-"));
    this.engines = join(this.dir, "qBittorrent/data/nova3/engines");
    t.after(async () => {
      const child = this.#child;
      if (child !== undefined && child.exitCode === null) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      rmSync(this.dir, { recursive: true, force: true });
    });
  }

  async start(): Promise<void> {
    this.#port = await freePort();
    const config = join(this.dir, "qBittorrent/config");
    mkdirSync(config, { recursive: true });
    const lines = [
      "[LegalNotice]",
      "Accepted=true",
      "[BitTorrent]",
      "Session\\InterfaceAddress=127.0.0.1",
      "Session\\DHTEnabled=false",
      "Session\\LSDEnabled=false",
      "Session\\SSRFMitigation=false",
      "[Preferences]",
      "Search\\SearchEnabled=true",
      "WebUI\\Address=127.0.0.1",
      "WebUI\\LocalHostAuth=false",
      `WebUI\\Port=${this.#port}`,
    ];
    writeFileSync(join(config, "qBittorrent.conf"), `${lines.join("\n")}\n`);
    this.#child = spawn(PROGRAM, [`--profile=${this.dir}`], { stdio: "ignore" });
    await this.until("version", async () => (await this.call("app/version")).startsWith("v"));
  }

  async call(path: string, form?: Record<string, string>): Promise<string> {
    const body = form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) };
    const headers = { cookie: this.#session };
    const url = `http://127.0.0.1:${this.#port}/api/v2/${path}`;
    const response = await fetch(url, { ...body, headers });
    // A search belongs to the session that began it.
    this.#session = response.headers.get("set-cookie")?.split(";")[0] ?? this.#session;
    return response.text();
  }

  // Its interface has no events: it is asked again until it has what is wanted.
  async until(wanted: string, isThere: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!(await isThere().catch(() => false))) {
      assert.equal(this.#child?.exitCode, null, "qBittorrent has ended");
      assert.ok(Date.now() < deadline, `no ${wanted}`);
      await delay(100);
    }
  }

  async search(pattern: string, category: string): Promise<Result[]> {
    const begun = { pattern, category, plugins: "sluice" };
    const { id } = JSON.parse(await this.call("search/start", begun));
    await this.until("end of the search", async () => {
      const [{ status }] = JSON.parse(await this.call(`search/status?id=${id}`));
      return status === "Stopped";
    });
    return JSON.parse(await this.call(`search/results?id=${id}&limit=1000`)).results;
  }
}

interface Result {
  fileName: string;
  fileSize: number;
  fileUrl: string;
  nbSeeders: number;
  nbLeechers: number;
}

test("qBittorrent finds all pages through its plugin, filters, and adds a torrent", async (t) => {
  needProgram(PROGRAM, PROGRAM);
  const app = await start(t, { settings: { apiKey: KEY } });
  const items = sampleItems("film", ITEMS);
  const server = await openIndexer(t, { items, isPaging: true, total: ITEMS, file: TORRENT });
  const headers = { "x-api-key": KEY, "content-type": "application/json" };
  const body = JSON.stringify({ id: "film", url: server.url, interval: 0 });
  await fetch(`${app.address}/indexers`, { method: "POST", headers, body });
  const client = new QBittorrent(t);
  await client.start();
  await client.call("search/installPlugin", { sources: PLUGIN });
  await client.until("plugin", async () =>
    (await client.call("search/plugins")).includes("Sluice Torznab"),
  );
  const settings = { url: app.address, api_key: KEY };
  writeFileSync(join(client.engines, "sluice.json"), JSON.stringify(settings));
  const found = await client.search("release", "all");
  assert.equal(new Set(found.map(({ fileName }) => fileName)).size, ITEMS);
  const one = found.find(({ fileName }) => fileName === "film Release 129 & more")!;
  assert.deepEqual([one.fileSize, one.nbSeeders, one.nbLeechers], [1_000_129, 129, 3]);
  assert.equal((await client.search("release 12", "movies")).length, 11, "12 and 120 to 129");
  assert.equal((await client.search("release 12", "tv")).length, 0, "none is of this category");
  await client.call("torrents/add", { urls: one.fileUrl, paused: "true" });
  await client.until("torrent", async () => {
    const [torrent] = JSON.parse(await client.call("torrents/info"));
    return torrent?.name === "sample.bin";
  });
  assert.equal(server.count("dl"), 1);
});
