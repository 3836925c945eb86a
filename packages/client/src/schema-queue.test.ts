/** A queue with a schema, at both of its ends. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError, type StandardSchema } from "sluice";
import { openMail, openSluice } from "./testing/open-mail.ts";

interface Input {
  to: string;
  copies?: number;
}

interface Output {
  to: string;
  copies: number;
}

/** Takes mails with an address, in small letters; the number of copies is 1 by default. */
const mailSchema: StandardSchema<Input, Output> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) => {
      const { to, copies = 1 } = (value ?? {}) as Partial<Input>;
      if (typeof to !== "string" || !to.includes("@")) {
        return { issues: [{ message: "must be an address", path: ["to"] }] };
      }
      return { value: { to: to.toLowerCase(), copies } };
    },
  },
};

/** The same, but it takes its time. */
const slowSchema: StandardSchema<Input, Output> = {
  "~standard": {
    ...mailSchema["~standard"],
    validate: async (value) => mailSchema["~standard"].validate(value),
  },
};

for (const [name, schema] of [
  ["at once", mailSchema],
  ["later", slowSchema],
] as const) {
  test(`what the schema makes of a payload is stored and handed out (${name})`, async (t) => {
    const { sluice } = await openSluice(t);
    const mail = await sluice.queue("mail", { schema });
    const job = await mail.add({ to: "A@B.C" });
    assert.deepEqual((await job.info()).payload, { to: "a@b.c", copies: 1 });
    const seen: Output[] = [];
    mail.work(({ payload }) => void seen.push(payload));
    await job.finished();
    assert.deepEqual(seen, [{ to: "a@b.c", copies: 1 }]);
  });

  test(`a payload that does not match is refused with its issues (${name})`, async (t) => {
    const { sluice } = await openSluice(t);
    const mail = await sluice.queue("mail", { schema });
    await assert.rejects(mail.add({ to: "nobody" }), {
      code: "SCHEMA",
      message: "payload.to: must be an address",
    });
    const [good, bad] = await mail.addBulk([
      { payload: { to: "a@b.c" } },
      { payload: { to: "nobody" } },
    ]);
    assert.ok(!(good instanceof SluiceError));
    assert.ok(bad instanceof SluiceError && bad.code === "SCHEMA");
    assert.deepEqual(bad.details.issues, [{ path: "payload.to", message: "must be an address" }]);
  });

  test(`a job that no longer matches fails at once, unseen by its handler (${name})`, async (t) => {
    const { sluice } = await openSluice(t);
    const before = await sluice.queue("mail");
    const job = await before.add({ to: "nobody" });
    const mail = await sluice.queue("mail", { schema });
    const failed: unknown[] = [];
    mail.on("failed", ({ error }) => failed.push((error as SluiceError).code));
    mail.work(() => assert.fail("must not run"));
    await assert.rejects(job.finished(), {
      state: "dead",
      reason: "SCHEMA: payload.to: must be an address",
    });
    await sluice.drain();
    assert.deepEqual(failed, ["SCHEMA"]);
    const dead = await job.info();
    assert.deepEqual([dead.queue, dead.dead?.origin, dead.dead?.attempts], ["mail.dlq", "mail", 1]);
  });
}

test("a loop never sees a job that does not match", async (t) => {
  const { sluice } = await openSluice(t);
  const before = await sluice.queue("mail");
  await before.addBulk([{ payload: { to: "nobody" } }, { payload: { to: "a@b.c" } }]);
  const mail = await sluice.queue("mail", { schema: mailSchema });
  const failed: unknown[] = [];
  mail.on("failed", ({ job }) => failed.push(job.id));
  for await (const job of mail.consume()) {
    assert.deepEqual(job.payload, { to: "a@b.c", copies: 1 });
    await job.ack();
    break;
  }
  await sluice.drain();
  assert.equal(failed.length, 1);
});

test("bytes that are not JSON fail like any other mismatch", async (t) => {
  const { sluice } = await openSluice(t);
  const raw = await sluice.queue("mail", { codec: "bytes" });
  const job = await raw.add(new Uint8Array([1, 2, 3]));
  const mail = await sluice.queue("mail");
  mail.work(() => assert.fail("must not run"));
  await assert.rejects(job.finished(), { state: "dead", reason: /^SCHEMA: payload is not JSON/ });
});

test("policies see what the schema made", async (t) => {
  const { sluice } = await openSluice(t);
  const mail = await sluice.queue("mail", {
    schema: mailSchema,
    policy: { fairnessKey: ({ to }) => to, cost: ({ copies }) => copies },
  });
  const { fairnessKey, cost } = await (await mail.add({ to: "A@B.C", copies: 3 })).info();
  assert.deepEqual([fairnessKey, cost], ["a@b.c", 3]);
});

const sentSchema: StandardSchema<{ sent: boolean }> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) => {
      const { sent } = (value ?? {}) as { sent?: unknown };
      if (typeof sent === "boolean") return { value: { sent } };
      return { issues: [{ message: "must be true or false", path: ["sent"] }] };
    },
  },
};

const slowSentSchema: typeof sentSchema = {
  "~standard": {
    ...sentSchema["~standard"],
    validate: async (value) => sentSchema["~standard"].validate(value),
  },
};

for (const [name, result] of [
  ["at once", sentSchema],
  ["later", slowSentSchema],
] as const) {
  test(`what the result schema makes of a result is stored (${name})`, async (t) => {
    const { mail } = await openMail(t, { result });
    const job = await mail.add(1);
    mail.work(() => ({ sent: true, extra: 5 }));
    assert.deepEqual(await job.finished(), { sent: true });
  });

  test(`a result that does not match fails the job for good (${name})`, async (t) => {
    const { mail } = await openMail(t, { result, retry: { attempts: 5 } });
    const job = await mail.add(1);
    const worker = mail.work(() => ({ sent: "yes" }) as never);
    const failed = { code: "JOB_FAILED", message: /SCHEMA: result.sent: must be true or false/ };
    await assert.rejects(job.finished(), failed);
    await worker.close();
    await mail.add(2);
    for await (const one of mail.consume()) {
      await assert.rejects(one.ack("yes" as never), { code: "SCHEMA" });
      break;
    }
  });
}
