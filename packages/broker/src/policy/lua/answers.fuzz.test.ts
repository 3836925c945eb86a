import assert from "node:assert/strict";
import { test } from "node:test";
import { loopBusyP99Ms } from "../../testing/loop-busy.ts";
import { job, open } from "../../testing/opened.ts";
import { random } from "../../testing/random.ts";

/** Programs of many functions, each of which answers something of its own. */
const TABLES = 76;
const ANSWERS = 250;
const BUSY_P99_MS_MAX = 20;

const NAMES = [
  "fairness_key",
  "weight",
  "gates",
  "throttle_keys",
  "priority",
  "delay_ms",
  "action",
];

const VALUES = [
  "nil",
  "true",
  "-1",
  "0",
  "1",
  "3.5",
  "1e308 * 10",
  "0/0",
  "math.mininteger",
  "'acme'",
  "''",
  "'\\0\\255'",
  "'__proto__'",
  "('x'):rep(2000)",
  "msg.headers.n",
  "msg.headers",
  "msg",
  "_ENV",
  "print",
  "string.rep",
  "#msg.queue",
  "function() end",
  "{ 'a', 'b' }",
  "{ 'a', nil, 'b' }",
  "{ [1] = 'a', [3] = 'c' }",
  "setmetatable({}, { __index = error })",
  "sluice.get('key')",
  "tostring(msg)",
  "('%5.2f'):format(2)",
  "select('#', 1, 2)",
];

function expression(pick: (below: number) => number, depth = 0): string {
  const kind = pick(10);
  if (depth > 3 || kind < 5) return VALUES[pick(VALUES.length)]!;
  if (kind === 5) return `{ ${expression(pick, depth + 1)}, ${expression(pick, depth + 1)} }`;
  if (kind === 6) return `(${expression(pick, depth + 1)}) == nil and 1 or 'x'`;
  const fields = Array.from({ length: pick(5) }, () => {
    return `${NAMES[pick(NAMES.length)]} = ${expression(pick, depth + 1)}`;
  });
  return `{ ${fields.join(", ")} }`;
}

test(`${TABLES * ANSWERS} random answers: each job is taken all the same`, async () => {
  const { broker, clock } = await open();
  const pick = random(11);
  const ask = async (): Promise<void> => {
    const functions = Array.from({ length: ANSWERS }, () => {
      return `function(msg) return ${expression(pick)} end`;
    });
    const lua = `local said = { ${functions.join(",\n")} }
      function on_enqueue(msg) return said[tonumber(msg.headers.n)](msg) end`;
    await broker.setQueue("q", { policy: { lua } });
    const jobs = functions.map((_, i) => job("x", { headers: { n: String(i + 1) } }));
    for (const { ok, error } of await broker.add("q", jobs)) assert.ok(ok, error?.message);
    await broker.purge("q");
    await clock.advance(10_000);
  };
  const p99 = await loopBusyP99Ms(async () => {
    for (let table = 0; table < TABLES; table++) await ask();
  });
  await broker.close();
  assert.ok(p99 < BUSY_P99_MS_MAX, `p99 of what holds the event loop up: ${p99} ms`);
});
