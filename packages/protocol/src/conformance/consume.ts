import { cases, onQueue } from "./case.ts";
import { check, each, equal, matches, rejects } from "./check.ts";
import { PROMPT, type Scene } from "./scene.ts";

const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `${i}`);

async function over(scene: Scene, promise: Promise<void>, what: string): Promise<void> {
  await scene.atOnce(promise, what);
}

export const consuming = cases("consume", {
  "a waiting consumer gets a new job at once": onQueue(async (scene) => {
    const inbox = await scene.consume();
    await inbox.holds(0, "an empty queue");
    const id = await scene.add("x", { headers: { a: "b" } });
    const [job] = await inbox.holds(1, "the new job");
    matches(job, { id, queue: "q", attempt: 0, headers: { a: "b" } }, "the delivered job");
    await scene.ack(job!);
  }),

  "what waits already is delivered, in order": onQueue(async (scene) => {
    await scene.addAll(many(30));
    const inbox = await scene.consume();
    await inbox.holds(30, "the jobs that waited");
    equal(inbox.texts, many(30), "the order of the deliveries");
  }),

  "a consumer is never sent more than its credits": onQueue(async (scene) => {
    await scene.addAll(many(10));
    const inbox = await scene.consume({ credits: 3 });
    await inbox.holds(3, "with 3 credits");
    inbox.consumer.addCredits(2);
    await inbox.holds(5, "with 2 credits more");
  }),

  "a consumer without credits gets nothing until it gets some": onQueue(async (scene) => {
    await scene.addAll(many(3));
    const inbox = await scene.consume({ credits: 0 });
    await inbox.holds(0, "with no credits");
    inbox.consumer.addCredits(1);
    await inbox.holds(1, "with 1 credit");
  }),

  "an ack gives no credit back by itself": onQueue(async (scene) => {
    await scene.addAll(many(3));
    const inbox = await scene.consume({ credits: 1 });
    const [job] = await inbox.holds(1, "with 1 credit");
    await scene.ack(job!);
    await inbox.holds(1, "after an ack");
  }),

  "two consumers never hold the same job, and together they get all": onQueue(async (scene) => {
    const inboxes = [
      await scene.consume({ worker: "a", credits: 20 }),
      await scene.consume({ worker: "b", credits: 20 }),
    ];
    await scene.addAll(many(40));
    for (const [i, inbox] of inboxes.entries()) await inbox.holds(20, `consumer ${i}`);
    const got = inboxes.flatMap((inbox) => inbox.texts);
    equal(
      got.sort((x, y) => Number(x) - Number(y)),
      many(40),
      "what the two got together",
    );
  }),

  "a full consumer does not stop the others": onQueue(async (scene) => {
    const full = await scene.consume({ worker: "full", credits: 1 });
    await scene.addAll(many(1));
    await full.holds(1, "the consumer that is full then");
    const other = await scene.consume({ worker: "other" });
    await scene.addAll(["a", "b", "c"]);
    await other.holds(3, "the other consumer");
  }),

  "a stopped consumer is over, and gets nothing more": onQueue(async (scene) => {
    const inbox = await scene.consume();
    await inbox.consumer.stop();
    await over(scene, inbox.consumer.over, "the consumer's end");
    await scene.add("x");
    await inbox.holds(0, "after the stop");
    const job = await scene.takeOne();
    equal(job.attempt, 0, "the attempt of a job that came after the stop");
  }),

  "a stop right after an add gives back what was on its way": onQueue(async (scene) => {
    const inbox = await scene.consume();
    const add = scene.addAll(many(5));
    await inbox.consumer.stop();
    const delivered = inbox.jobs.length;
    await add;
    await inbox.holds(delivered, "after the stop");
    const rest = await scene.take(10);
    const got = [...inbox.jobs, ...rest];
    equal(new Set(got.map((job) => job.id)).size, 5, "the jobs that someone got");
    equal(got.length, 5, "the deliveries in all");
    check(
      rest.every((job) => job.attempt === 0),
      "a job given back must not lose an attempt",
    );
  }),

  "leases that a stopped consumer holds stay its own": onQueue(async (scene) => {
    await scene.add("x");
    const inbox = await scene.consume();
    const [job] = await inbox.holds(1, "the job");
    await inbox.consumer.stop();
    await scene.expect([], "what there is for another");
    await scene.ack(job!);
  }),

  "a consumer can be stopped twice, and credits come too late then": onQueue(async (scene) => {
    const inbox = await scene.consume();
    await inbox.consumer.stop();
    await inbox.consumer.stop();
    inbox.consumer.addCredits(5);
    await scene.add("x");
    await inbox.holds(0, "after the stop");
  }),

  "a consumer is over when its queue is deleted": onQueue(async (scene) => {
    const inbox = await scene.consume();
    await scene.broker.deleteQueue("q");
    await over(scene, inbox.consumer.over, "the consumer of a deleted queue");
  }),

  "a consumer says how long its leases last": async (scene) => {
    await scene.queue({ lease: scene.steps(40) });
    await scene.add("x");
    const inbox = await scene.consume({ lease: scene.steps(9) });
    const [job] = await inbox.holds(1, "the job");
    scene.near(job?.expiresAt, scene.now() + scene.steps(9), "the end of the lease");
  },

  "a consumer gets a job that failed again, with its next attempt": async (scene) => {
    await scene.queue({ retry: PROMPT });
    await scene.add("x");
    const inbox = await scene.consume();
    const [first] = await inbox.holds(1, "the first delivery");
    await scene.nack(first!);
    const [, second] = await inbox.holds(2, "the second delivery");
    equal(second?.attempt, 1, "the attempt of the second delivery");
    check(second?.lease !== first?.lease, "each delivery must have a lease of its own");
  },

  "a consumer gets a job when its lease has run out elsewhere": async (scene) => {
    await scene.queue({ lease: scene.steps(3), retry: PROMPT });
    await scene.add("x");
    await scene.takeOne();
    const inbox = await scene.consume({ lease: scene.steps(50) });
    await inbox.holds(0, "while the lease is live");
    await scene.pass(4);
    await inbox.holds(1, "when it has run out");
  },

  "a queue that does not exist has no consumers": async (scene) => {
    const options = { worker: "w", credits: 1 };
    const consume = scene.broker.consume("nowhere", options, () => {});
    await rejects(consume, "QUEUE_NOT_FOUND", "the call");
  },

  "credits that cannot be are refused": onQueue(async (scene) => {
    const options = { worker: "w", credits: -1 };
    await rejects(
      scene.broker.consume("q", options, () => {}),
      "INVALID",
      "credits of -1",
    );
  }),
});

export const working = cases("workers", {
  "a consumer is listed with what it holds and what it would take": onQueue(async (scene) => {
    const inbox = await scene.consume({ worker: "bob", credits: 3 });
    await scene.add("x");
    const [job] = await inbox.holds(1, "the job");
    const listed = async () => {
      const bob = (await scene.broker.workers("q")).find(({ name }) => name === "bob");
      return { ...bob, since: typeof bob?.since };
    };
    const own = { name: "bob", queue: "q", free: 2, since: "number" };
    equal(await listed(), { ...own, running: 1 }, "while it holds a job");
    await scene.ack(job!);
    equal(await listed(), { ...own, running: 0 }, "after the ack");
  }),

  "a consumer is listed with where it runs": onQueue(async (scene) => {
    const place = { host: "web-1", process: 4711, version: "0.1.0" };
    await scene.consume({ worker: "bob", place });
    const [bob] = await scene.broker.workers("q");
    equal(bob?.place, place, "its place");
    for (const [wrong, field] of [
      [{ host: "h".repeat(2000) }, "place.host"],
      [{ process: -1 }, "place.process"],
      [{ version: "v".repeat(2000) }, "place.version"],
    ] as const) {
      const call = scene.consume({ worker: "eve", place: { ...place, ...wrong } });
      await rejects(call, "INVALID", field);
    }
  }),

  "a stopped consumer that holds nothing is not listed": onQueue(async (scene) => {
    const inbox = await scene.consume({ worker: "bob" });
    await inbox.consumer.stop();
    const workers = await scene.broker.workers("q");
    equal(
      workers.filter(({ name }) => name === "bob"),
      [],
      "the workers called bob",
    );
  }),

  "a consumer that holds a job is listed, also when it takes no more": onQueue(async (scene) => {
    await scene.add("x");
    const [job] = await scene.broker.lease("q", { max: 1, worker: "ann" });
    const listed = async () => (await scene.broker.workers("q")).find(({ name }) => name === "ann");
    equal(await listed(), { name: "ann", queue: "q", free: 0, running: 1 }, "while it holds a job");
    await scene.ack(job!);
    equal(await listed(), undefined, "after the ack");
  }),

  "the jobs that a worker has held longest are listed with it": onQueue(async (scene) => {
    const held = async (jobs: number) => {
      const workers = await scene.broker.workers("q", { jobs });
      return workers.find(({ name }) => name === "ann")?.jobs;
    };
    for (const body of ["x", "y", "z"]) await scene.add(body);
    const first = await scene.broker.lease("q", { max: 1, worker: "ann" });
    await scene.broker.lease("q", { max: 1, worker: "bob" });
    await scene.pass(1);
    const [second] = await scene.broker.lease("q", { max: 1, worker: "ann" });
    const all = (await held(10))!;
    equal(each(all, "id"), [first[0]!.id, second!.id], "the jobs of ann");
    equal(each(all, "attempt"), [0, 0], "their attempts");
    equal(each(all, "expiresAt"), [first[0]!.expiresAt, second!.expiresAt], "their leases");
    equal(all[0]!.since < all[1]!.since, true, "since when");
    equal(each((await held(1))!, "id"), [first[0]!.id], "only the one that is held longest");
    equal(await held(0), undefined, "when no jobs are asked for");
    await rejects(
      scene.broker.workers("q", { jobs: 101 }),
      "INVALID",
      "more than may be asked for",
    );
    await scene.ack(first[0]!);
    equal(each((await held(10))!, "id"), [second!.id], "after an ack");
  }),

  "a queue that does not exist has no workers": async (scene) => {
    await rejects(scene.broker.workers("nowhere"), "QUEUE_NOT_FOUND", "the call");
  },
});
