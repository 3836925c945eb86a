import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  XML_ATTRIBUTES_MAX,
  XML_DEPTH_MAX,
  XML_NODES_MAX,
  XML_REFERENCES_MAX,
  XML_STRETCH_CHARS_MAX,
} from "../limits.ts";
import { XmlReader } from "./reader.ts";
import { XmlReaders } from "./readers.ts";

const open = (t: TestContext, options = {}): XmlReader => {
  const reader = new XmlReader(options);
  t.after(() => reader.close());
  return reader;
};

const document = (text: string) => ({
  bytes: Buffer.from(text),
  contentType: undefined,
  base: "http://x/",
});

test("a document that takes too long costs its thread, and the next one is read", async (t) => {
  const reader = open(t, { parseMsMax: 1 });
  const large = `<rss><channel>${"<item><title>a</title></item>".repeat(40_000)}</channel></rss>`;
  await assert.rejects(reader.read(document(large)), { kind: "too_slow" });
  const patient = open(t);
  assert.equal((await patient.read(document("<rss/>"))).kind, "feed");
});

test("an aborted read rejects, and the other reads are served", async (t) => {
  const reader = open(t);
  const controller = new AbortController();
  const first = reader.read(document("<rss/>"));
  const second = reader.read(document("<rss/>"), controller.signal);
  const third = reader.read(document("<rss/>"));
  controller.abort(new Error("enough"));
  await assert.rejects(second, { message: "enough" });
  assert.deepEqual([(await first).kind, (await third).kind], ["feed", "feed"]);
});

test("each limit of a document: at it and above it", async (t) => {
  const reader = open(t);
  const inRss = (inner: string) => document(`<rss>${inner}</rss>`);
  const attributes = (count: number) =>
    `<a ${Array.from({ length: count }, (_, i) => `a${i}="1"`).join(" ")}/>`;
  for (const [at, above] of [
    ["<a/>".repeat(XML_NODES_MAX - 1), "<a/>".repeat(XML_NODES_MAX)],
    [nested(XML_DEPTH_MAX - 1), nested(XML_DEPTH_MAX)],
    [attributes(XML_ATTRIBUTES_MAX), attributes(XML_ATTRIBUTES_MAX + 1)],
    [references(XML_REFERENCES_MAX), `${references(XML_REFERENCES_MAX)}&amp;`],
    ["x".repeat(XML_STRETCH_CHARS_MAX), "x".repeat(XML_STRETCH_CHARS_MAX + 1)],
    ["<!---->".repeat(XML_NODES_MAX - 1), "<!---->".repeat(XML_NODES_MAX)],
    [tag(XML_STRETCH_CHARS_MAX), tag(XML_STRETCH_CHARS_MAX + 1)],
    [section(XML_STRETCH_CHARS_MAX), section(XML_STRETCH_CHARS_MAX + 1)],
  ] as const) {
    assert.equal((await reader.read(inRss(at))).kind, "feed");
    await assert.rejects(reader.read(inRss(above)), { kind: "too_large" });
  }
});

test("a small document does not wait for a large one", async (t) => {
  const readers = new XmlReaders();
  t.after(() => readers.close());
  const order: string[] = [];
  const item = `<item><title>${"t".repeat(200)}</title></item>`;
  const large = document(`<rss><channel>${item.repeat(40_000)}</channel></rss>`);
  // Both threads stand before it counts.
  await readers.read(document("<rss/>"));
  const slow = readers.read(large).then(() => order.push("large"));
  const quick = readers.read(document("<rss/>")).then(() => order.push("small"));
  await Promise.all([slow, quick]);
  assert.deepEqual(order, ["small", "large"]);
});

// In pieces that are not too long in themselves.
function references(count: number): string {
  return `<a>${"&amp;".repeat(1_000)}</a>`.repeat(count / 1_000);
}

function tag(chars: number): string {
  return `<a b="${"x".repeat(chars - '<a b=""/'.length)}"/>`;
}

function section(chars: number): string {
  return `<![CDATA[${"x".repeat(chars - "<![CDATA[".length)}]]>`;
}

function nested(levels: number): string {
  return "<a>".repeat(levels) + "</a>".repeat(levels);
}
