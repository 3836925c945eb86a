import assert from "node:assert/strict";
import { test } from "node:test";
import { job } from "../../testing/opened.ts";
import { openScript } from "../../testing/scripts.ts";

/** Answers the headers, in the order of their names, as the key of the job. */
const LISTING = `
  function on_enqueue(msg)
    local names = {}
    for name in pairs(msg.headers) do names[#names + 1] = name end
    table.sort(names)
    local all = ""
    for _, name in ipairs(names) do all = all .. name .. "=" .. msg.headers[name] .. ";" end
    return { fairness_key = all .. msg.payload_size .. msg.queue, weight = #names + 1 }
  end`;

type Headers = Record<string, string>;

/** What the script says of jobs that are added at once. */
async function listed(jobs: readonly Headers[]): Promise<void> {
  const { broker } = await openScript(LISTING);
  const added = await broker.add(
    "q",
    jobs.map((headers) => job("x", { headers })),
  );
  for (const [i, { ok }] of added.entries()) {
    const { fairnessKey, weight } = await broker.job(ok!.id);
    const headers = Object.entries(jobs[i]!).sort(([a], [b]) => (a < b ? -1 : 1));
    const all = headers.map(([name, value]) => `${name}=${value};`).join("");
    assert.equal(fairnessKey, `${all}1q`);
    assert.equal(weight, headers.length + 1);
  }
}

test("names that change within a batch, come again and are missing", async () => {
  const one = { tenant: "a", plan: "gold" };
  const other = { plan: "gold", tenant: "a" };
  await listed([one, one, {}, other, { tenant: "b" }, one, { ...one, more: "1" }, {}]);
});

test("names that mean something in a program of Lua", async () => {
  await listed([
    { 'a"] = 1, ["b': "quote", "]]": "brackets", "\\": "backslash", end: "word" },
    { "line\nbreak": "1", "zero\0byte": "2", "caf\u00e9": "3", "%s": "4", "": "5" },
  ]);
});

test("more names than a reader is made for, and more kinds of names than are kept", async () => {
  const many: Headers = {};
  for (let i = 10; i < 30; i++) many[`h${i}`] = `${i}`;
  const kinds = Array.from({ length: 150 }, (_, i) => ({ [`kind-${i}`]: "x", same: `${i}` }));
  await listed([many, ...kinds, many, ...kinds]);
});

test("a call that fails takes no other of its batch along", async () => {
  const { broker } = await openScript(`
    function on_enqueue(msg)
      if msg.headers.bad then error("bad") end
      return { fairness_key = msg.headers.n, delay_ms = 20000 + msg.headers.n, weight = 300 }
    end`);
  const jobs = Array.from({ length: 1200 }, (_, i) => {
    const headers: Headers = i % 3 === 1 ? { bad: "1" } : { n: `${i}` };
    return job("x", { headers });
  });
  const added = await broker.add("q", jobs);
  for (const [i, { ok }] of added.entries()) {
    const { fairnessKey, weight } = await broker.job(ok!.id);
    assert.deepEqual([fairnessKey, weight], i % 3 === 1 ? ["fallback", 1] : [`${i}`, 300]);
  }
});
