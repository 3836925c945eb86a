import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { MemoryLog } from "@sluice/log";
import { openBroker } from "../../broker.ts";
import { job, open, take, text } from "../../testing/opened.ts";
import { addOne, nextEvent, openScript } from "../../testing/scripts.ts";

test("a script sees headers, size and queue, and sets the options of a job", async () => {
  const { broker } = await openScript(`
    function on_enqueue(msg)
      return {
        fairness_key = msg.headers.tenant .. ":" .. msg.queue .. ":" .. msg.payload_size,
        weight = 3,
        throttle_keys = { "provider:" .. msg.headers.provider },
        gates = { "region:eu", "provider:aws" },
        priority = 1,
        delay_ms = 1500.5,
      }
    end`);
  const added = await addOne(broker, { tenant: "acme", provider: "aws" });
  const { fairnessKey, weight, gates, tier, state } = added;
  assert.equal(fairnessKey, "acme:q:1");
  assert.deepEqual([weight, tier, state], [3, 1, "delayed"]);
  assert.deepEqual([...gates].sort(), ["provider:aws", "region:eu"]);
  assert.equal(added.at! - added.addedAt, 1501);
});

test("the producer's options win, and templates set what nothing else sets", async () => {
  const { broker } = await openScript("function on_enqueue() return { weight = 3 } end", {
    policy: { gates: ["template"], weight: 9 },
  });
  const open = await addOne(broker);
  assert.deepEqual([open.fairnessKey, open.weight, open.gates], ["fallback", 3, ["template"]]);
  const said = await addOne(broker, {}, { weight: 2, gates: [], fairnessKey: "own" });
  assert.deepEqual([said.fairnessKey, said.weight, said.gates], ["own", 2, []]);
});

test("wrong fields fall back one by one", async () => {
  const wrong: readonly [string, Partial<Record<string, unknown>>][] = [
    ["fairness_key = 5, gates = 'g'", { fairnessKey: "fallback", gates: ["g"] }],
    ["fairness_key = { 'a', 'b' }", { fairnessKey: ["a", "b"] }],
    ["fairness_key = { 'a', 2 }", { fairnessKey: "fallback" }],
    ["fairness_key = { 'a', 'b', 'c', 'd', 'e' }", { fairnessKey: "fallback" }],
    ["weight = 0, fairness_key = 'x'", { weight: 1, fairnessKey: "x" }],
    ["weight = 1.5", { weight: 1 }],
    ["weight = '5'", { weight: 1 }],
    ["weight = 0/0", { weight: 1 }],
    ["weight = math.huge", { weight: 1 }],
    ["priority = 9", { tier: 3 }],
    ["priority = -1", { tier: 3 }],
    ["priority = 2.0", { tier: 2 }],
    ["priority = '0'", { tier: 0 }],
    ["priority = {}", { tier: 3 }],
    ["delay_ms = -1", { state: "waiting" }],
    ["delay_ms = 1e300", { state: "waiting" }],
    ["gates = 'one'", { gates: ["one"] }],
    ["gates = { 'a b/c' }", { gates: ["a_b_c"] }],
    ["gates = { 'a', false }", { gates: [] }],
    ["gates = { 'a' }, throttle_keys = { {} }", { gates: ["a"] }],
    ["gates = setmetatable({}, { __index = function() return 'x' end })", { gates: [] }],
  ];
  const branches = wrong.map(([fields]) => `function() return { ${fields} } end,`);
  const { broker } = await openScript(`
    local said = { ${branches.join("\n")} }
    function on_enqueue(msg) return said[tonumber(msg.headers.n)]() end`);
  for (const [i, [fields, expected]] of wrong.entries()) {
    const added = await addOne(broker, { n: String(i + 1) });
    const got = Object.fromEntries(Object.keys(expected).map((k) => [k, added[k as "tier"]]));
    assert.deepEqual(got, expected, fields);
  }
});

test("a script that answers nothing, or no table, leaves all as it is", async () => {
  const { broker } = await openScript("function on_enqueue(m) return m.headers.x end");
  assert.equal((await addOne(broker)).fairnessKey, "fallback");
  assert.equal((await addOne(broker, { x: "text" })).fairnessKey, "fallback");
});

test("refuses a queue with an invalid program, and names the line", async () => {
  const { broker } = await open();
  const refusals: readonly [string, RegExp][] = [
    ["function on_enqueue(msg)\n  return {\nend", /policy:3: /],
    ["\nerror('no')", /policy:2: no/],
    ["while true do end", /longer than 5 ms/],
    ["x = 1", /on_enqueue or on_failure/],
    ["\x1bLua", /policy/],
  ];
  for (const [lua, message] of refusals) {
    const error = { code: "INVALID", message };
    await assert.rejects(broker.setQueue("q", { policy: { lua } }), error, lua);
  }
  assert.equal((await broker.queue("q")).config.policy, null);
  const most = `function on_enqueue() end --${"x".repeat(64 * 1024 - 28)}`;
  assert.equal(most.length, 64 * 1024);
  await broker.setQueue("q", { policy: { lua: most } });
  await assert.rejects(broker.setQueue("q", { policy: { lua: `${most}x` } }), { code: "INVALID" });
});

test("the order of adds is kept, also when the script is taken away in between", async () => {
  const { broker } = await openScript("function on_enqueue(m) return { weight = 1 } end");
  const adds: Promise<unknown>[] = [];
  for (let i = 0; i < 200; i++) adds.push(broker.add("q", [job(String(i))]));
  const change = broker.setQueue("q", { policy: { fairnessKey: "fallback" } });
  for (let i = 200; i < 300; i++) adds.push(broker.add("q", [job(String(i))]));
  await Promise.all([...adds, change]);
  const jobs = await take(broker, 300);
  assert.deepEqual(
    jobs.map(({ payload }) => Number(text(payload))),
    Array.from({ length: 300 }, (_, i) => i),
  );
});

test("scripts read the key-value configuration, and see a change at once", async () => {
  const { broker } = await openScript(`
    function on_enqueue(msg)
      local plan = sluice.get("plans")
      if plan == nil then return { weight = sluice.get("none") or 7 } end
      plan.gold.weight = plan.gold.weight + 1 -- its own copy
      return { weight = plan.gold.weight, fairness_key = plan.names[2], gates = sluice.get("g") }
    end`);
  assert.equal((await addOne(broker)).weight, 7);
  const plans = { gold: { weight: 4 }, names: ["a", "b"], nothing: null };
  await broker.storeWrite("config", [
    { key: "plans", value: plans },
    { key: "g", value: "gate" },
  ]);
  for (let i = 0; i < 2; i++) {
    const { weight, fairnessKey, gates } = await addOne(broker);
    assert.deepEqual([weight, fairnessKey, gates], [5, "b", ["gate"]]);
  }
  await broker.storeWrite("config", [{ key: "plans", value: undefined }]);
  assert.equal((await addOne(broker)).weight, 7);
});

test("a large configuration is read up to its limit", async () => {
  const { broker } = await openScript(`
    function on_enqueue(msg)
      local list = sluice.get("a")
      return { weight = list and #list, fairness_key = tostring(sluice.get(msg.headers.key)) }
    end`);
  const small = Array.from({ length: 9_000 }, (_, i) => {
    return { key: `b${String(i).padStart(4, "0")}`, value: "x".repeat(20) };
  });
  await broker.storeWrite("config", [
    { key: "a", value: Array.from({ length: 5_000 }, (_, i) => i) },
    ...small,
  ]);
  const first = await addOne(broker, { key: "b0000" });
  assert.deepEqual([first.weight, first.fairnessKey], [5_000, "x".repeat(20)]);
  assert.equal((await addOne(broker, { key: "b8999" })).fairnessKey, "nil");
});

test("after a restart the script runs again, and no fact depends on it", async () => {
  const log = new MemoryLog();
  const broker = await openBroker({ log });
  const lua = "function on_enqueue() return { weight = 3 } end";
  await broker.setQueue("q", { policy: { lua } });
  const { id } = await addOne(broker);
  await broker.close();
  const again = await openBroker({ log: new MemoryLog({ after: log }) });
  assert.equal((await again.job(id)).weight, 3);
  assert.equal((await addOne(again)).weight, 3);
  await again.close();
});

test("three failures in a row give ten seconds of defaults, for this queue alone", async () => {
  const { broker, clock } = await openScript(`
    function on_enqueue(msg)
      if msg.headers.bad then error("bad job") end
      return { weight = 2 }
    end`);
  await broker.setQueue("other", { policy: { lua: "function on_enqueue() return {} end" } });
  const told = nextEvent(broker, "policy-failed");
  for (let i = 0; i < 3; i++) assert.equal((await addOne(broker, { bad: "1" })).weight, 1);
  const { queue, error } = await told;
  assert.equal(queue, "q");
  assert.match(error, /policy:3: bad job/);
  assert.equal((await addOne(broker)).weight, 1);
  await clock.advance(9_999);
  assert.equal((await addOne(broker)).weight, 1);
  await clock.advance(1);
  assert.equal((await addOne(broker)).weight, 2);
});

test("a process with scripts ends when its work is done, also without a close", () => {
  const program = `
    import { MemoryLog } from "@sluice/log";
    import { openBroker } from "@sluice/broker";
    const broker = await openBroker({ log: new MemoryLog() });
    await broker.setQueue("q", { policy: { lua: "function on_enqueue() return {} end" } });
    const [{ ok }] = await broker.add("q", [{ payload: new Uint8Array(1) }]);
    console.log(ok.id === "" ? "lost" : "added");`;
  const args = ["--input-type=module", "--eval", program];
  const options = { cwd: import.meta.dirname, timeout: 20_000, encoding: "utf8" } as const;
  const { status, stdout } = spawnSync(process.execPath, args, options);
  assert.deepEqual([status, stdout], [0, "added\n"]);
});
