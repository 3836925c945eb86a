import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { loopBusyP99Ms } from "../../testing/loop-busy.ts";
import { job, open } from "../../testing/opened.ts";

const PROGRAMS = 1_000;
/** Programs of many functions, each of which answers something of its own. */
const TABLES = 76;
const ANSWERS = 250;
const BUSY_P99_MS_MAX = 20;

/** Numbers that look random and are the same every time. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

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

const PIECES =
  "on_enqueue msg return end local x = 1 .. + - * / // % # == ~= <= and or not nil if then else " +
  "while do break goto :: for in repeat until 'text' \" [[ ]] -- --[[ 0x 1e9 , ; : . ... string.rep " +
  "table.concat pcall error setmetatable _ENV msg.headers { } [ ] ( ) < > & \\ \0 \x1b é";

const WHOLE =
  "function on_enqueue ( msg ) local t = { } for name , value in pairs ( msg.headers ) do " +
  "t [ # t + 1 ] = name .. value end if # t > 0 then return { gates = t , weight = # t } end " +
  "return { fairness_key = msg.queue , priority = 1 + 1 , delay_ms = 10 * 2 } end";

/** A program with some pieces left out, doubled or replaced. */
function program(pick: (below: number) => number): string {
  const pieces = WHOLE.split(" ");
  const other = PIECES.split(" ");
  for (let changes = pick(4); changes > 0; changes--) {
    const piece = other[pick(other.length)]!;
    const copy = pieces[pick(pieces.length)]!;
    const put = [[], [piece], [copy, copy]][pick(3)]!;
    pieces.splice(pick(pieces.length), pick(2), ...put);
  }
  return pieces.join(" ");
}

test(`${PROGRAMS} programs of random pieces: each is refused or run, no job is lost`, async () => {
  const { broker, clock } = await open();
  const pick = random(7);
  let taken = 0;
  for (let i = 0; i < PROGRAMS; i++) {
    try {
      await broker.setQueue("q", { policy: { lua: program(pick) } });
      taken++;
    } catch (error) {
      assert.ok(error instanceof SluiceError && error.code === "INVALID", String(error));
      continue;
    }
    const outcomes = await broker.add("q", [job("x"), job("y", { headers: { n: "1" } })]);
    for (const { ok, error } of outcomes) assert.ok(ok, error?.message);
    await clock.advance(10_000);
  }
  assert.ok(taken > 0 && taken < PROGRAMS);
});

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
