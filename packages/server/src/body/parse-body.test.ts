import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { BATCH_MAX, MEMBERS_MAX, NAME_BYTES_MAX, PIECE_BYTES_MAX, SLICE_BYTES } from "../limits.ts";
import { BodyShape, parseBody, parseWhole, sliceBody } from "./parse-body.ts";
import { RawJson } from "./raw-json.ts";

const JOBS = new BodyShape({ items: "jobs", raw: ["payload"] });
const ITEMS = new BodyShape({ items: "items" });

/** A body with its payloads as texts. */
async function parsed(text: string, shape = JOBS): Promise<unknown> {
  const body = await parseBody(Buffer.from(text), shape);
  return JSON.parse(
    JSON.stringify(body, (_, value) =>
      value instanceof RawJson ? Buffer.from(value.bytes).toString() : value,
    ),
  );
}

/** The most bytes of one slice, and how many there were. */
function slicesOf(text: string, shape = JOBS): { bytes: number; count: number } {
  let from = 0;
  let bytes = 0;
  let count = 1;
  for (const at of sliceBody(Buffer.from(text), shape)) {
    bytes = Math.max(bytes, at - from);
    from = at;
    count++;
  }
  return { bytes: Math.max(bytes, text.length - from), count };
}

test("a payload is kept as the bytes that were sent", async () => {
  const payload = '{ "a" : 1.0, "__proto__": {"b": [ ]}, "a":2e3, "\\u00e9":"é" }';
  assert.deepEqual(await parsed(`{"payload": ${payload} , "cost":3}`), { payload, cost: 3 });
  assert.deepEqual(await parsed(`{"jobs":[ {"payload":${payload}},{"cost":1 } ]}`), {
    jobs: [{ payload }, { cost: 1 }],
  });
  assert.deepEqual(await parsed('{"p\\u0061yload":1}'), { payload: "1" }, "an escaped name");
});

test("what is not kept is parsed as JSON.parse does", async () => {
  const texts = [
    "{}",
    " [1, 2] ",
    '"é"',
    "-0.5e-3",
    "null",
    '{"items":7,"a":{"items":[1]},"b":[{"payload":1}]}',
    '{"items":[]}',
    '{"items":[{"a":"\\ud83d\\ude00"},3,null,"x",[[]]],"a":1,"a":2}',
    '\uFEFF{"a":1}',
  ];
  for (const text of texts) {
    assert.deepEqual(await parsed(text, ITEMS), JSON.parse(text.replace("\uFEFF", "")), text);
  }
});

test("what is no JSON, no UTF-8 or nothing is refused", async () => {
  const texts = [
    "",
    "{",
    "{]",
    '{"a"}',
    "[1,]",
    '{"a":1,}',
    "01",
    "1.",
    "-",
    "tru",
    '"\n"',
    '"\\x"',
  ];
  for (const text of [
    ...texts,
    "{} {}",
    '{"payload":[}',
    '{"jobs":[{}',
    '{"jobs":[1 2]}',
    '"\\u12',
  ]) {
    await assert.rejects(parsed(text), { code: "INVALID" }, text);
  }
  const broken = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
  assert.throws(() => parseBody(broken, JOBS), { code: "INVALID" });
  assert.throws(() => parseWhole(broken), { code: "INVALID" });
});

test("what could poison a prototype is refused outside of payloads", async () => {
  for (const text of [
    '{"payload":1,"__proto__":{"a":1}}',
    '{"payload":1,"headers":{"\\u005f_proto__":{"a":1}}}',
    '{"jobs":[{"constructor":{"prototype":{}}}]}',
  ]) {
    await assert.rejects(parsed(text), { code: "INVALID" }, text);
    assert.throws(() => parseWhole(Buffer.from(text)), { code: "INVALID" }, text);
  }
  assert.deepEqual(await parsed('{"a":"constructor"}'), { a: "constructor" });
});

test("no body is looked at for more than a slice before others get their turn", () => {
  const names = Array.from({ length: 300_000 }, (_, i) => `"k${i}":1`).join(",");
  const job = '{"payload":{"to":"x"},"cost":1}';
  const bodies = [
    `{"payload":{${names}}}`,
    `{"payload":[${"[],".repeat(500_000)}[]]}`,
    `{"payload":"${"x".repeat(3_000_000)}"}`,
    `{"payload":${"[".repeat(500_000)}${"]".repeat(500_000)}}`,
    `{"payloadBase64":"${"A".repeat(3_000_000)}"}`,
    `{"jobs":[${Array(9_000).fill(job).join(",")}]}`,
    `{"jobs":[${" ".repeat(1_000)}${Array(9_000)
      .fill("{}")
      .join(`,${" ".repeat(100)}`)}]}`,
  ];
  for (const body of bodies) {
    const { bytes, count } = slicesOf(body);
    const start = body.slice(0, 30);
    assert.ok(bytes <= SLICE_BYTES + 1_000, `${bytes} bytes in one slice of ${start}`);
    assert.ok(count >= Math.floor(body.length / (SLICE_BYTES + 1_000)), start);
  }
});

test("a part that is parsed whole has a limit, texts aside", async () => {
  const listOf = (bytes: number) => `[${"1,".repeat(bytes / 2 - 1)}1]`;
  const fits = `{"a":${listOf(PIECE_BYTES_MAX - 100)}}`;
  assert.ok(await parsed(fits));
  const over = listOf(PIECE_BYTES_MAX + 100);
  for (const text of [`{"a":${over}}`, `{"jobs":[{"a":${over}}]}`, over]) {
    await assert.rejects(parsed(text), { code: "PAYLOAD_TOO_LARGE" });
  }
  await assert.rejects(parsed(`{"items":[${over}]}`, ITEMS), { code: "PAYLOAD_TOO_LARGE" });
  assert.ok(await parsed(`{"error":"${"x".repeat(2 * PIECE_BYTES_MAX)}"}`));
});

/** The most bytes that were given to JSON.parse at once. */
function parsedAtOnce(t: TestContext, text: string, shape = JOBS): number {
  const parse = t.mock.method(JSON, "parse");
  for (const _ of sliceBody(Buffer.from(text), shape));
  const sizes = parse.mock.calls.map((call) => call.arguments[0]!.length);
  parse.mock.restore();
  return Math.max(0, ...sizes);
}

test("fields that are parsed together have the limit of one, however many there are", (t) => {
  const value = `[${"[],".repeat(PIECE_BYTES_MAX / 3 - 100)}[]]`;
  const fields = Array.from({ length: 20 }, (_, i) => `"a${i}":${value}`).join(",");
  for (const text of [`{${fields}}`, `{"jobs":[{${fields}}]}`]) {
    const bytes = parsedAtOnce(t, text);
    assert.ok(bytes > SLICE_BYTES && bytes <= PIECE_BYTES_MAX + 100, `${bytes} bytes at once`);
  }
});

test("of fields that are parsed apart the last of a name counts", async () => {
  const value = `[${"1,".repeat(PIECE_BYTES_MAX / 2 - 100)}1]`;
  const body = (await parsed(`{"a":1,"b":${value},"a":2,"c":${value},"b":3}`)) as object;
  const { c, ...rest } = body as { c: unknown[] };
  assert.deepEqual([rest, c.length], [{ a: 2, b: 3 }, PIECE_BYTES_MAX / 2 - 99]);
});

test("the name of a field has a limit", async () => {
  const named = (name: string) => `{"${name}":1}`;
  assert.ok(await parsed(named("x".repeat(NAME_BYTES_MAX))));
  for (const name of ["x".repeat(NAME_BYTES_MAX + 1), "\\u0061".repeat(NAME_BYTES_MAX)]) {
    await assert.rejects(parsed(named(name)), { code: "INVALID" });
    await assert.rejects(parsed(`{"jobs":[${named(name)}]}`), { code: "INVALID" });
  }
});

test("escapes count against the limit of a part, so that a text of them is refused", async () => {
  const text = (escapes: number) =>
    `{"payloadBase64":"${"A".repeat(1_000_000)}${"\\/".repeat(escapes)}"}`;
  assert.ok(await parsed(text(PIECE_BYTES_MAX - 200)));
  await assert.rejects(parsed(text(PIECE_BYTES_MAX + 1)), { code: "PAYLOAD_TOO_LARGE" });
});

test("items and fields are counted while they are read", async () => {
  const listOf = (count: number) => `{"jobs":[${Array(count).fill("{}").join(",")}]}`;
  assert.ok(await parsed(listOf(BATCH_MAX)));
  await assert.rejects(parsed(listOf(BATCH_MAX + 1)), { code: "INVALID" });
  const fields = (count: number) =>
    `{${Array.from({ length: count }, (_, i) => `"a${i}":1`).join(",")}}`;
  assert.ok(await parsed(fields(MEMBERS_MAX)));
  await assert.rejects(parsed(fields(MEMBERS_MAX + 1)), { code: "INVALID" });
});

test("how deep a payload is nested is known", async () => {
  const body = (await parseBody(Buffer.from('{"payload":[[{"a":[1]}],2]}'), JOBS)) as {
    payload: RawJson;
  };
  assert.equal(body.payload.depth, 4);
});
