/** Two tenants share a server, and one of them is hostile: over HTTP and over the stream. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { connectBroker } from "@sluice/client/remote";
import type { Broker, GroupInfo, Nack, NewJob } from "@sluice/protocol";
import { SluiceError } from "@sluice/protocol";
import { payload, type Started, start } from "../testing/start.ts";
import type { Grant } from "./grant.ts";

const TEN_YEARS_MS = 315_360_000_000;
/** What a tenant can do, in whichever way it is connected; refusals are thrown with their codes. */
interface Tenant {
  add(queue: string, job: Omit<NewJob, "payload">): Promise<string>;
  lease(queue: string): Promise<string>;
  ack(lease: string): Promise<void>;
  nack(failure: Nack): Promise<void>;
  cooldown(gate: string, ms: number): Promise<void>;
  group(group: string): Promise<GroupInfo>;
  release(group: string): Promise<void>;
}

type Connect = (t: TestContext, started: Started, key: string) => Promise<Tenant>;

const overHttp: Connect = async (_, { call }, key) => {
  const ask = async (line: string, body?: object) => {
    const answer = await call(line, { key, ...(body === undefined ? {} : { body }) });
    const error = answer.body?.error ?? answer.body?.results?.[0]?.error;
    if (error !== undefined) throw SluiceError.fromJSON(error);
    return answer.body;
  };
  return {
    add: async (queue, { delayMs: delay, ...job }) =>
      (await ask(`POST /v1/queues/${queue}/jobs`, { payload: 1, delay, ...job })).id,
    lease: async (queue) => (await ask(`POST /v1/queues/${queue}/lease`, {})).jobs[0].lease,
    ack: (lease) => ask("POST /v1/ack", { items: [{ lease }] }),
    nack: ({ delayMs: delay, cooldown, ...failure }) => {
      const cool = cooldown && { cooldown: { gate: cooldown.gate, duration: cooldown.ms } };
      return ask("POST /v1/nack", { items: [{ ...failure, delay, ...cool }] });
    },
    cooldown: (gate, ms) => ask(`POST /v1/gates/${gate}/cooldown`, { duration: ms }),
    group: (group) => ask(`GET /v1/groups/${group}`),
    release: (group) => ask(`POST /v1/groups/${group}/release`),
  };
};

const overStream: Connect = async (t, { server }, apiKey) => {
  const broker: Broker = await connectBroker(server.address, { apiKey });
  t.after(() => broker.close());
  const only = <T>([outcome]: { ok?: T; error?: unknown }[]): T => {
    if (outcome?.error !== undefined) throw SluiceError.fromJSON(outcome.error as never);
    return outcome!.ok!;
  };
  return {
    add: async (queue, job) => only(await broker.add(queue, [{ payload, ...job }]))!.id,
    lease: async (queue) => (await broker.lease(queue, { max: 1 }))[0]!.lease,
    ack: async (lease) => void only(await broker.ack([{ lease }])),
    nack: async (failure) => void only(await broker.nack([failure])),
    cooldown: (gate, ms) => broker.cooldown(gate, ms),
    group: (group) => broker.group(group),
    release: (group) => broker.releaseGroups([group]),
  };
};

async function scene(t: TestContext, connect: Connect) {
  const started = await start(t, { keys: true });
  const { key } = (await started.server.firstKey)!;
  for (const queue of ["a.x", "b.y"]) await started.broker.setQueue(queue, {});
  const tenant = async (queue: string): Promise<Tenant> => {
    const grants: Grant[] = [
      { action: "produce", on: queue },
      { action: "consume", on: queue },
    ];
    const made = await started.call("POST /v1/keys", { key, body: { grants } });
    return connect(t, started, made.body.key);
  };
  return { ...started, hostile: await tenant("a.x"), victim: await tenant("b.y") };
}

const forbidden = { code: "FORBIDDEN" };

for (const [way, connect] of Object.entries({ HTTP: overHttp, "the stream": overStream })) {
  test(`${way}: a tenant cannot shut a gate that its producer named`, async (t) => {
    const { broker, hostile } = await scene(t, connect);
    await broker.setGate("shared", { ladder: [TEN_YEARS_MS] });
    await assert.rejects(hostile.cooldown("shared", 1000), forbidden);
    await hostile.add("a.x", { gates: ["shared"] });
    const lease = await hostile.lease("a.x");
    const cooldown = { gate: "shared", ms: TEN_YEARS_MS };
    await assert.rejects(hostile.nack({ lease, cooldown }), forbidden);
    await assert.rejects(hostile.nack({ lease, blame: ["shared"] }), forbidden);
    await hostile.nack({ lease, error: "x", delayMs: 0 });
    assert.equal((await broker.gate("shared")).cooldown, undefined);
  });

  test(`${way}: a tenant cools a gate of its queue's policy for an hour at most`, async (t) => {
    const { broker, hostile } = await scene(t, connect);
    await broker.setQueue("a.x", { policy: { gates: ["own"] } });
    await hostile.add("a.x", {});
    const lease = await hostile.lease("a.x");
    await hostile.nack({ lease, cooldown: { gate: "own", ms: TEN_YEARS_MS } });
    const { until = 0 } = (await broker.gate("own")).cooldown ?? {};
    assert.ok(until > Date.now() && until <= Date.now() + 3_600_000, String(until));
  });

  test(`${way}: a tenant cannot join, hold open, release or see another's group`, async (t) => {
    const { hostile, victim } = await scene(t, connect);
    // The tenant that takes the name first takes it in its own queue only.
    await hostile.add("a.x", { group: "g", delayMs: 300 * 86_400_000 });
    const own = await victim.add("b.y", { group: "g" });
    await assert.rejects(hostile.add("a.x", { group: "b.y/g" }), forbidden);
    await assert.rejects(hostile.group("b.y/g"), forbidden);
    await assert.rejects(hostile.group("b.y/none"), forbidden);
    await assert.rejects(hostile.release("b.y/g"), forbidden);
    assert.deepEqual((await victim.group("b.y/g")).members, [{ id: own }]);
    await victim.ack(await victim.lease("b.y"));
    const { ended, members } = await victim.group("b.y/g");
    assert.deepEqual([ended, members], [true, [{ id: own, state: "finished" }]]);
  });
}
