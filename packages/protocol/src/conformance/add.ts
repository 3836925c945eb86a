import { cases, durableCases, onQueue } from "./case.ts";
import {
  accepted,
  bytes,
  check,
  equal,
  matches,
  names,
  refused,
  rejects,
  textOf,
} from "./check.ts";
import { PROMPT } from "./scene.ts";

const MIB = 1024 * 1024;

export const adding = cases("add", {
  "a job is delivered with the id, payload and headers it was added with": onQueue(
    async (scene) => {
      const headers = { tenant: "acme", "x-empty": "", greeting: "grüß dich" };
      const id = await scene.add("hello", { headers });
      const job = await scene.takeOne();
      matches(job, { id, queue: "q", headers, payload: bytes("hello") }, "the delivered job");
    },
  ),

  "an empty payload is delivered as an empty payload": onQueue(async (scene) => {
    await scene.add("");
    equal((await scene.takeOne()).payload.length, 0, "the length of the delivered payload");
  }),

  "a payload of 1 MiB with every byte value is delivered unchanged": onQueue(async (scene) => {
    const payload = new Uint8Array(MIB).map((_, i) => (i * 31) % 256);
    const [outcome] = await scene.broker.add("q", [{ payload }]);
    accepted(outcome, "the add of 1 MiB");
    equal((await scene.takeOne()).payload, payload, "the delivered payload");
  }),

  "a buffer that is used again after the answer does not change the job": onQueue(async (scene) => {
    const payload = bytes("first");
    await scene.broker.add("q", [{ payload }]);
    payload.set(bytes("other"));
    equal(textOf(await scene.takeOne()), "first", "the payload after its buffer was written again");
  }),

  "ids are unique strings that rise in the order of the adds": onQueue(async (scene) => {
    const ids: string[] = [];
    for (let i = 0; i < 120; i++) ids.push(await scene.add(`${i}`));
    ids.push(...(await scene.addAll(["a", "b", "c"])));
    await scene.pass(1);
    ids.push(await scene.add("later"));
    for (const [i, id] of ids.entries()) {
      check(typeof id === "string" && id !== "", `an id must be a string with something in it`);
      const last = ids[i - 1];
      check(last === undefined || last < id, `ids must rise, but ${last} was followed by ${id}`);
    }
  }),

  "a new job waits, with no attempt made, from the time of its add": async (scene) => {
    await scene.queue({ retry: { attempts: 7 } });
    await scene.pass(2);
    const addedAt = scene.now();
    const info = await scene.broker.job(await scene.add("new"));
    scene.near(info.addedAt, addedAt, "when the job was added");
    matches(info, { state: "waiting", attempt: 0, attempts: 7, queue: "q", cost: 1 }, "the job");
  },

  "a batch is answered item by item, in the order of the call": onQueue(async (scene) => {
    const ids = await scene.addAll(["a", "b", "c"]);
    const jobs = await scene.take(10);
    equal(
      jobs.map((job) => [job.id, textOf(job)]),
      [
        [ids[0], "a"],
        [ids[1], "b"],
        [ids[2], "c"],
      ],
      "ids and payloads in order of delivery",
    );
  }),

  "an unknown option of a job is refused by its name": onQueue(async (scene) => {
    const misspelt = { payload: bytes("x"), dely: 5 };
    const [outcome] = await scene.broker.add("q", [misspelt]);
    names(refused(outcome, "INVALID", "the misspelt option"), "dely", "the misspelt option");
    equal((await scene.broker.queue("q")).stats.waiting, 0, "the jobs that wait");
  }),

  "one bad item of a batch is refused, and the others go through": onQueue(async (scene) => {
    const payload = bytes("x");
    const outcomes = await scene.broker.add("q", [
      { payload },
      { payload, weight: 0 },
      { payload },
    ]);
    equal(outcomes.length, 3, "the number of answers");
    accepted(outcomes[0], "the item before the bad one");
    names(refused(outcomes[1], "INVALID", "the bad item"), "weight", "the bad item");
    accepted(outcomes[2], "the item after the bad one");
    equal((await scene.broker.queue("q")).stats.waiting, 2, "the jobs that wait");
  }),

  "an empty batch is answered with no answers": onQueue(async (scene) => {
    equal(await scene.broker.add("q", []), [], "the answer");
  }),

  "an add to a queue that does not exist is refused": async (scene) => {
    const add = scene.broker.add("nowhere", [{ payload: bytes("x") }]);
    await rejects(add, "QUEUE_NOT_FOUND", "the add");
  },

  "a call that was given up before it began adds nothing": onQueue(async (scene) => {
    const signal = AbortSignal.abort();
    const add = scene.broker.add("q", [{ payload: bytes("x") }], { signal });
    await rejects(add, "ABORTED", "the add");
    equal((await scene.broker.queue("q")).stats.added, 0, "the jobs that were added");
  }),
});

export const repeating = cases("operation ids", {
  "a call repeated with its operation id gets the first answer again": onQueue(async (scene) => {
    const jobs = [{ payload: bytes("a") }, { payload: bytes("bad"), weight: 0 }];
    const first = await scene.broker.add("q", jobs, { operationId: "once" });
    const again = await scene.broker.add("q", jobs, { operationId: "once" });
    equal(again, first, "the second answer");
    await scene.expect(["a"], "the jobs that there are");
  }),

  "a call repeated while the first is under way adds nothing twice": onQueue(async (scene) => {
    const add = () => scene.broker.add("q", [{ payload: bytes("a") }], { operationId: "once" });
    const [first, again] = await Promise.all([add(), add()]);
    equal(again, first, "the second answer");
    await scene.expect(["a"], "the jobs that there are");
  }),

  "calls with different operation ids are different calls": onQueue(async (scene) => {
    for (const operationId of ["one", "two"]) {
      await scene.broker.add("q", [{ payload: bytes(operationId) }], { operationId });
    }
    await scene.expect(["one", "two"], "the jobs that there are");
  }),

  "an operation id under which another call was made is refused": onQueue(async (scene) => {
    await scene.queue({}, "other");
    const job = { payload: bytes("a") };
    await scene.broker.add("q", [job], { operationId: "once" });
    const calls = {
      "an add of more jobs": scene.broker.add("q", [job, job], { operationId: "once" }),
      "an add to another queue": scene.broker.add("other", [job], { operationId: "once" }),
      "an ack": scene.broker.ack([{ lease: "a1.1" }], { operationId: "once" }),
    };
    for (const [what, call] of Object.entries(calls)) await rejects(call, "CONFLICT", what);
    await scene.expect(["a"], "the jobs that there are");
  }),

  "an operation id under which something else was said is refused": onQueue(async (scene) => {
    const once = { operationId: "once" };
    const job = { payload: bytes("a"), weight: 2, headers: { tenant: "x" } };
    const first = await scene.broker.add("q", [job], once);
    const others = {
      "another payload": { ...job, payload: bytes("b") },
      "another option": { ...job, weight: 3 },
      "another header": { ...job, headers: { tenant: "y" } },
    };
    for (const [what, other] of Object.entries(others)) {
      await rejects(scene.broker.add("q", [other], once), "CONFLICT", what);
    }
    const same = { headers: { ...job.headers }, weight: 2, payload: bytes("a") };
    equal(await scene.broker.add("q", [same], once), first, "the answer again");
    const [held] = await scene.expect(["a"], "the jobs that there are");
    const { lease } = held!;
    await scene.broker.nack([{ lease, error: "no" }], { operationId: "nack" });
    const nack = scene.broker.nack([{ lease, error: "yes" }], { operationId: "nack" });
    await rejects(nack, "CONFLICT", "a nack with another error");
    await scene.broker.ack([{ lease, result: bytes("1") }], { operationId: "ack" });
    const ack = scene.broker.ack([{ lease, result: bytes("2") }], { operationId: "ack" });
    await rejects(ack, "CONFLICT", "an ack with another result");
  }),

  "an ack or a nack repeated with its operation id gets the first answer again": async (scene) => {
    await scene.queue({ retry: PROMPT });
    await scene.addAll(["a", "b"]);
    const [a, b] = await scene.take(2);
    const acks = [{ lease: a!.lease }, { lease: "a1.zz" }];
    const acked = await scene.broker.ack(acks, { operationId: "ack" });
    accepted(acked[0], "the first ack");
    equal(await scene.broker.ack(acks, { operationId: "ack" }), acked, "the answer again");
    const nacks = [{ lease: b!.lease, error: "boom" }];
    const nacked = await scene.broker.nack(nacks, { operationId: "nack" });
    accepted(nacked[0], "the first nack");
    equal(await scene.broker.nack(nacks, { operationId: "nack" }), nacked, "the answer again");
    const [again] = await scene.expect(["b"], "the jobs that there are");
    equal(again?.attempt, 1, "its attempt");
  },

  "jobs that waited for room are added once": async (scene) => {
    await scene.queue({ capacity: { jobs: 1 }, onFull: "wait", addTimeout: scene.steps(50) });
    const jobs = [{ payload: bytes("a") }, { payload: bytes("b") }];
    const first = scene.broker.add("q", jobs, { operationId: "once" });
    await scene.waits(first, "an add to a full queue");
    await scene.takeOne();
    const answer = await scene.atOnce(first, "the add when there is room");
    equal(await scene.broker.add("q", jobs, { operationId: "once" }), answer, "the answer again");
    await scene.expect(["b"], "the jobs that there are");
  },
});

export const repeatingSurvives = durableCases("operation ids survive", {
  "an add repeated afterwards gets its first answer again": onQueue(async (scene) => {
    const dedupe = { key: "k", mode: "pending" as const };
    const jobs = ["a", "b", "c", "d"].map((payload) => ({ payload: bytes(payload) }));
    const mixed = [...jobs, { payload: bytes("bad"), weight: 0 }];
    mixed.push({ ...jobs[0]!, dedupe } as never, { ...jobs[0]!, dedupe } as never);
    const first = await scene.broker.add("q", mixed, { operationId: "once" });
    await scene.reopen();
    equal(await scene.broker.add("q", mixed, { operationId: "once" }), first, "the answer again");
    await scene.expect(["a", "b", "c", "d", "a"], "the jobs that there are");
  }),

  "an ack and a nack repeated afterwards get their first answers again": async (scene) => {
    await scene.queue({ retry: PROMPT });
    await scene.addAll(["a", "b"]);
    const [a, b] = await scene.take(2);
    const acks = [{ lease: a!.lease }];
    const nacks = [{ lease: b!.lease, error: "boom" }];
    await scene.broker.ack(acks, { operationId: "ack" });
    await scene.broker.nack(nacks, { operationId: "nack" });
    await scene.reopen();
    accepted((await scene.broker.ack(acks, { operationId: "ack" }))[0], "the ack again");
    accepted((await scene.broker.nack(nacks, { operationId: "nack" }))[0], "the nack again");
    refused((await scene.broker.ack(acks))[0], "ALREADY_FINISHED", "the ack without its name");
    const [again] = await scene.expect(["b"], "the jobs that there are");
    equal(again?.attempt, 1, "its attempt");
  },

  "an add that was cut off in the middle continues where it stopped": async (scene) => {
    await scene.queue({ capacity: { jobs: 1 }, onFull: "wait", addTimeout: scene.steps(500) });
    const jobs = [{ payload: bytes("a") }, { payload: bytes("b") }];
    const first = scene.broker.add("q", jobs, { operationId: "once" });
    first.catch(() => {});
    await scene.waits(first, "an add to a full queue");
    await scene.reopen();
    const again = scene.broker.add("q", jobs, { operationId: "once" });
    await scene.waits(again, "the add made again");
    equal(textOf(await scene.takeOne()), "a", "the job that was added before");
    for (const outcome of await scene.atOnce(again, "the add")) accepted(outcome, "each job");
    await scene.expect(["b"], "the jobs that there are besides");
  },
});
