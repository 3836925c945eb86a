import assert from "node:assert/strict";
import { after, test } from "node:test";
import { MemoryLog } from "@sluice/log";
import { turningClock } from "@sluice/protocol/testing";
import { type LocalBroker, openBroker } from "../../broker.ts";
import { loopBusyP99Ms } from "../../testing/loop-busy.ts";
import { job, open } from "../../testing/opened.ts";
import { addOne, nextEvent } from "../../testing/scripts.ts";

const BUSY_P99_MS_MAX = 20;

/** What a script tries to do to the broker; each is asked for one job, and the job must go on. */
const ATTACKS: Readonly<Record<string, string>> = {
  "an endless loop": "while true do end",
  "a loop that swallows its interruption":
    "while true do pcall(function() while true do end end) end",
  "a loop in an error handler": "xpcall(error, function() while true do end end)",
  "a table without end": "local t = {} while true do t[#t + 1] = { #t } end",
  "a text without end": "local s = 'x' while true do s = s .. s end",
  "a huge text at once": "return { fairness_key = ('x'):rep(2 ^ 20):rep(2 ^ 10) }",
  "counting to forever in C": "return { weight = #(''):rep(1 << 60) }",
  "moving a table to forever": "table.move({}, 1, 1 << 60, 2)",
  "a pattern bomb": "return string.find(('a'):rep(60), ('a-'):rep(60) .. 'b')",
  "a pattern bomb by gsub": "return (('a'):rep(60)):gsub(('a*'):rep(60) .. 'b', '')",
  "endless recursion": "local function f() return 1 + f() end return f()",
  "recursion through a metatable":
    "local t = {} setmetatable(t, { __index = function(s, k) return s[k .. 'x'] end }) return t.x",
  "recursion through tostring":
    "local t = setmetatable({}, { __tostring = function(s) return tostring(s) end }) tostring(t)",
  "sorting by a comparison without sense":
    "local t = {} for i = 1, 200 do t[i] = i end table.sort(t, function() return true end) while true do end",
  "too many results": "return table.unpack({}, 1, 1e7)",
  "an error that is a table": "error({ code = 1 })",
  "an error that is nil": "error()",
  "an error that answers with an error":
    "error(setmetatable({}, { __tostring = function() error('again') end }))",
  "an error of a megabyte": "error(('x'):rep(2 ^ 20))",
  "a coroutine": "coroutine.wrap(function() while true do end end)()",
  "a finalizer": "setmetatable({}, { __gc = function() while true do end end })",
  "loading code": "load('while true do end')()",
  "reading a file": "io.open('/etc/passwd')",
  "leaving the process": "os.exit(1)",
  "requiring a library": "require('os')",
  "running a file": "dofile('/etc/passwd')",
  "the collector": "collectgarbage('stop')",
  "the debugger": "debug.sethook()",
  "changing a library": "string.format = nil",
  "changing a library from behind": "rawset(string, 'format', nil)",
  "changing the metatable of texts": "getmetatable('').__index = {}",
  "replacing what is protected": "setmetatable(string, {})",
  "changing what it is given": "sluice.get = nil",
};

/** What a script may answer, which must do no harm and leave no trace. */
const ANSWERS: Readonly<Record<string, string>> = {
  "the names of the host": "return { fairness_key = '__proto__', gates = { 'constructor' } }",
  "fields of the host": "return { __proto__ = { polluted = 'yes' }, constructor = 'x' }",
  "a huge list": "local t = {} for i = 1, 1e4 do t[i] = 'g' .. i end return { gates = t }",
  "a huge key": "return { fairness_key = ('x'):rep(2 ^ 18) }",
  "bytes that are no text": "return { fairness_key = '\\255\\254\\0\\1', gates = { '\\0\\255' } }",
  "a table in itself": "local t = {} t.fairness_key = t t.gates = t return t",
  "a table that lies":
    "return setmetatable({}, { __index = function() return 'x' end, __len = error })",
  "a function": "return print, string.rep",
  "the whole world": "return _ENV",
  "what recursion through pcall leaves": "local function f() return pcall(f) end return f()",
};

// One broker for all attacks: what one of them breaks, the next would meet.
const clock = turningClock(5);
const broker = await openBroker({ log: new MemoryLog(), clock });
after(() => broker.close());

function program(body: string): string {
  return `function on_enqueue(msg)
    if msg.headers.calm then return { weight = 2 } end
    ${body}
  end`;
}

/** Makes the attack in a queue of its own; answers the fallback that the job got. */
async function attack(on: LocalBroker, queue: string, body: string): Promise<unknown> {
  await on.setQueue(queue, { policy: { fairnessKey: "fallback", lua: program(body) } });
  const [outcome] = await on.add(queue, [job("x")]);
  const { fairnessKey } = await on.job(outcome!.ok!.id);
  return fairnessKey;
}

for (const [name, body] of Object.entries(ATTACKS)) {
  test(`${name} does no harm: the job falls back to the other settings of its queue`, async () => {
    const queue = name.replaceAll(/[^a-z]/g, "-");
    const failed = nextEvent(broker, "policy-failed");
    assert.equal(await attack(broker, queue, body), "fallback");
    assert.equal((await failed).queue, queue);
    // If the attack cost a thread, the script rests first.
    await clock.advance(10_000);
    const [calm] = await broker.add(queue, [job("x", { headers: { calm: "1" } })]);
    assert.equal((await broker.job(calm!.ok!.id)).weight, 2);
  });
}

for (const [name, body] of Object.entries(ANSWERS)) {
  test(`an answer with ${name} does no harm`, async () => {
    await attack(broker, `answer-${name.replaceAll(/[^a-z]/g, "-")}`, body);
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
    assert.deepEqual(Object.keys(Object.prototype), []);
  });
}

test("no other call and no other queue sees what a call leaves behind", async () => {
  const leave = `
    seen = (seen or 0) + 1
    if kept == nil then kept = "mine" end
    return { weight = seen, fairness_key = kept .. tostring(leaked) }`;
  const lua = program(leave);
  await broker.setQueue("q", { policy: { lua } });
  await broker.setQueue("spy", { policy: { lua: program("return { fairness_key = kept }") } });
  for (let i = 0; i < 5; i++) {
    const { weight, fairnessKey } = await addOne(broker);
    assert.deepEqual([weight, fairnessKey], [1, "minenil"]);
    const [spied] = await broker.add("spy", [job("x")]);
    assert.equal((await broker.job(spied!.ok!.id)).fairnessKey, "");
  }
});

test("a script that hoards memory call by call fails alone and starts over", async () => {
  const hoard = "function on_enqueue() hoarded[#hoarded + 1] = ('x'):rep(2 ^ 20) .. #hoarded end";
  await broker.setQueue("hoard", { policy: { lua: `hoarded = {} ${hoard}` } });
  for (let i = 0; i < 40; i++) assert.ok((await broker.add("hoard", [job("x")]))[0]!.ok);
});

test("a thread that is ended takes only its own batch along", async () => {
  const bomb = "return string.find(('a'):rep(60), ('a-'):rep(60) .. 'b')";
  await broker.setQueue("bomb", { policy: { lua: program(bomb) } });
  await broker.setQueue("calm", { policy: { lua: program("return { weight = 4 }") } });
  const bombs = broker.add("bomb", [job("x"), job("y")]);
  const calm = await broker.add(
    "calm",
    Array.from({ length: 50 }, () => job("x")),
  );
  const weights = await Promise.all(calm.map(async ({ ok }) => (await broker.job(ok!.id)).weight));
  assert.deepEqual(new Set(weights), new Set([4]));
  for (const { ok } of await bombs) assert.ok(ok);
});

test("the event loop keeps turning during all attacks", async () => {
  const p99 = await loopBusyP99Ms(async () => {
    const { broker: own } = await open();
    for (const [i, body] of Object.values(ATTACKS).entries()) await attack(own, `a${i}`, body);
    await own.close();
  });
  assert.ok(p99 < BUSY_P99_MS_MAX, `p99 of what holds the event loop up: ${p99} ms`);
});
