import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Dialect } from "../testing/dialects.ts";
import { FAULTS, type FaultName, IndexerServer, sampleItems } from "../testing/indexer-server.ts";
import { XmlReader } from "../xml/reader.ts";
import { TorznabClient } from "./torznab-client.ts";
import { TorznabFault } from "./torznab-fault.ts";

const KEY = "k3y-of-the-indexer";
const MIB = 1024 * 1024;

interface Opened {
  server: IndexerServer;
  client: TorznabClient;
  endpoint: { url: string; apiKey: string };
}

async function open(t: TestContext, dialect: Dialect = "jackett"): Promise<Opened> {
  const server = await IndexerServer.open({ dialect, apiKey: KEY, items: sampleItems("Some", 3) });
  const reader = new XmlReader();
  t.after(async () => {
    await server.close();
    await reader.close();
  });
  const options = { reader, timeoutMs: 20_000, bytesMax: 2 * MIB, now: () => Date.now() };
  return { server, client: new TorznabClient(options), endpoint: { url: server.url, apiKey: KEY } };
}

test("three dialects: caps and releases come out the same", async (t) => {
  for (const dialect of ["jackett", "prowlarr", "newznab"] as const) {
    const { client, endpoint } = await open(t, dialect);
    const caps = await client.caps(endpoint);
    assert.equal(caps.title, dialect);
    assert.deepEqual(caps.limits, { default: 50, max: 100 });
    assert.equal(caps.modes.book === undefined, dialect === "newznab");
    assert.equal(caps.modes.music === undefined, dialect === "newznab");
    const byDefault = ["q", "rid", "season", "ep"];
    const said = ["q", "season", "ep", "tvdbid"];
    assert.deepEqual(caps.modes.tvsearch, dialect === "newznab" ? byDefault : said);
    const params = new URLSearchParams({ t: "search", q: "release 2" });
    const { releases } = await client.search(endpoint, params);
    assert.equal(releases.length, 1);
    const [release] = releases;
    assert.equal(
      release!.title,
      dialect === "prowlarr" ? "Some Release 2 &amp; more" : "Some Release 2 & more",
    );
    assert.equal(release!.sizeBytes, 1_000_002);
    assert.ok(release!.link?.startsWith(endpoint.url.slice(0, 20)), release!.link);
  }
});

test("a dialect's own ways: repeats, the third of three, factors, links, no date", async (t) => {
  const params = new URLSearchParams({ t: "search", q: "release 2" });
  const jackett = await open(t, "jackett");
  const [one] = (await jackett.client.search(jackett.endpoint, params)).releases;
  assert.deepEqual(one!.categories, [2040, 1002040]);
  assert.deepEqual([one!.seeders, one!.leechers, one!.peers], [2, 3, 5]);
  assert.deepEqual([one!.downloadFactor, one!.uploadFactor], [0.5, 1]);
  assert.equal(one!.publishedAt, Date.UTC(2024, 2, 5, 10, 11, 12));
  const prowlarr = await open(t, "prowlarr");
  const [two] = (await prowlarr.client.search(prowlarr.endpoint, params)).releases;
  assert.deepEqual([two!.seeders, two!.leechers, two!.peers], [2, 3, 5]);
  const newznab = await open(t, "newznab");
  const [three] = (await newznab.client.search(newznab.endpoint, params)).releases;
  assert.equal(three!.publishedAt, undefined);
  assert.equal(three!.grabs, 7);
  assert.equal(three!.link, `${newznab.server.origin}/getnzb/Some-2?i=1&r=${KEY}`);
});

const SAID: Record<FaultName, [kind: string, status: string, penalty: string, reaction?: string]> =
  {
    html: ["html", "error", "ladder"],
    nzb: ["doctype", "error", "ladder"],
    doctype: ["doctype", "error", "ladder"],
    bomb: ["doctype", "error", "ladder"],
    references: ["too_large", "error", "ladder"],
    deep: ["too_large", "error", "ladder"],
    many: ["too_large", "error", "ladder"],
    huge: ["too_large", "error", "ladder"],
    endless: ["timeout", "timeout", "ladder"],
    silent: ["timeout", "timeout", "ladder"],
    broken: ["network", "error", "ladder"],
    unknownCharset: ["charset", "error", "ladder"],
    wrongCharset: ["", "", ""],
    malformed: ["malformed", "error", "ladder"],
    empty: ["empty", "error", "ladder"],
    json: ["malformed", "error", "ladder"],
    gzipBomb: ["too_large", "error", "ladder"],
    brotli: ["encoding", "error", "none"],
    badKey: ["code", "error", "none", "disable"],
    suspended: ["code", "error", "none", "disable"],
    wrongParameter: ["code", "error", "none", "refetch-caps"],
    noFunction: ["code", "error", "none", "refetch-caps"],
    gone: ["code", "error", "none"],
    unknown: ["code", "error", "ladder"],
    requestLimit: ["code", "rate_limited", "limit"],
    apiDisabled: ["code", "rate_limited", "limit"],
    limitInWords: ["code", "rate_limited", "limit"],
    jackett429: ["code", "rate_limited", "limit"],
    prowlarr429: ["code", "rate_limited", "limit"],
    retryDate: ["http", "rate_limited", "limit"],
    retryPast: ["http", "rate_limited", "limit"],
    retryTenYears: ["http", "rate_limited", "limit"],
    retryNonsense: ["http", "rate_limited", "limit"],
    http500: ["http", "error", "ladder"],
    toMagnet: ["redirects", "error", "ladder"],
    repeatsFormerKey: ["code", "error", "ladder"],
    http404: ["http", "error", "ladder"],
    loop: ["redirects", "error", "none"],
    toMetadata: ["address", "error", "none"],
    toLoopback: ["address", "error", "none"],
  };

test("each bad answer is a typed fault, in time, and the next answer is read", async (t) => {
  const { server, client, endpoint } = await open(t);
  const params = new URLSearchParams({ t: "search" });
  for (const name of Object.keys(FAULTS) as FaultName[]) {
    server.fault = name;
    const [kind, status, penalty, reaction = "none"] = SAID[name];
    const startedAt = Date.now();
    if (kind === "") {
      const { releases } = await client.search(endpoint, params);
      assert.equal(releases[0]!.title, "caf\ufffd");
      continue;
    }
    const call = status === "timeout" ? { timeoutMs: 300 } : {};
    await assert.rejects(client.search(endpoint, params, call), (fault) => {
      assert.ok(fault instanceof TorznabFault, `${name}: ${fault}`);
      // Who is asked with less than the usual time is not to blame for being late.
      const wanted = [kind, status, status === "timeout" ? "none" : penalty, reaction];
      const said = [fault.kind, fault.status, fault.penalty, fault.reaction];
      assert.deepEqual(said, wanted, `${name}: ${fault.message}`);
      return true;
    });
    assert.ok(Date.now() - startedAt < 5_000, name);
    server.fault = undefined;
    assert.equal((await client.search(endpoint, params)).releases.length, 3, `after ${name}`);
  }
});

test("an indexer that takes longer than its usual time climbs the ladder", async (t) => {
  const { server, endpoint } = await open(t);
  const reader = new XmlReader();
  t.after(() => reader.close());
  const client = new TorznabClient({ reader, timeoutMs: 200, bytesMax: MIB, now: Date.now });
  server.fault = "silent";
  await assert.rejects(client.caps(endpoint), { status: "timeout", penalty: "ladder" });
  await assert.rejects(client.caps(endpoint, { timeoutMs: 100 }), { penalty: "none" });
});

test("Retry-After: seconds, a date, the past and ten years", async (t) => {
  const { server, client, endpoint } = await open(t);
  const wanted = {
    jackett429: [120_000, /Retry-After "120"/],
    prowlarr429: [600_000, /Retry-After "600"/],
    retryDate: [1_800_000, /Retry-After ".* GMT"/],
    retryPast: [0, /Retry-After "Sun, 06 Nov 1994 08:49:37 GMT"/],
    retryTenYears: [24 * 3_600_000, /Retry-After "315360000"/],
    retryNonsense: [0, /Retry-After "soon"/],
  } as const;
  for (const [name, [ms, text]] of Object.entries(wanted)) {
    server.fault = name as FaultName;
    await assert.rejects(client.caps(endpoint), (fault: TorznabFault) => {
      assert.ok(Math.abs(fault.retryAfterMs - ms) < 5_000, `${name} ${fault.retryAfterMs}`);
      assert.match(fault.message, text);
      return true;
    });
  }
});

test("a caller's signal ends the request with the caller's reason", async (t) => {
  const { server, client, endpoint } = await open(t);
  server.fault = "silent";
  const controller = new AbortController();
  const call = client.caps(endpoint, { signal: controller.signal, timeoutMs: 60_000 });
  controller.abort(new Error("enough"));
  await assert.rejects(call, { message: "enough" });
});

test("the key is in no fault, even when the indexer repeats it", async (t) => {
  const { server, client } = await open(t);
  const endpoint = { url: server.url, apiKey: "a-wrong-key" };
  await assert.rejects(client.caps(endpoint), (fault: TorznabFault) => {
    assert.match(fault.message, /code 100: Invalid API Key REDACTED/);
    assert.doesNotMatch(String(fault.stack), /a-wrong-key/);
    return true;
  });
  const unreachable = { url: "http://127.0.0.1:9/", apiKey: KEY };
  await assert.rejects(client.caps(unreachable), (fault: TorznabFault) => {
    assert.equal(fault.message, "the connection failed: ECONNREFUSED");
    assert.doesNotMatch(JSON.stringify(fault) + fault.stack, new RegExp(KEY));
    return true;
  });
});

test("downloads: a file, a magnet instead of it, an error, a private link", async (t) => {
  const { server, client, endpoint } = await open(t);
  const file = await client.download(endpoint, `${server.origin}/dl/x?jackett_apikey=${KEY}`);
  assert.ok(file.kind === "file" && Buffer.from(file.bytes).toString() === "d4:infoe");
  const magnet = await client.download(endpoint, `${server.origin}/dl/magnet`);
  assert.deepEqual(magnet, { kind: "magnet", magnet: "magnet:?xt=urn:btih:aaaa" });
  server.fault = "gone";
  await assert.rejects(client.download(endpoint, `${server.origin}/dl/x`), { code: 300 });
  const other = await IndexerServer.open();
  t.after(() => other.close());
  await assert.rejects(client.download(endpoint, `${other.origin}/x`), { kind: "address" });
  assert.equal(other.requests.length, 0);
});
