import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answered, Engine } from "@sluice/engine";
import { type Outcome, SluiceError } from "@sluice/protocol";
import type { Journal } from "./journal.ts";
import { OperationAnswers, type Perform } from "./operations.ts";

/** Makes a call of three items under one operation id. */
function start(): (perform: Perform<true>) => Promise<Outcome<true>[]> {
  const answers: Answered[] = [];
  let call: string | undefined;
  const operations = {
    recall: () => (call === undefined ? undefined : { call, answers }),
    remember(_: string, title: string, more: readonly Answered[]) {
      call = title;
      answers.push(...more);
    },
    passedBy: () => undefined,
  };
  const journal = { durable: async () => {} } as unknown as Journal;
  const calls = new OperationAnswers({ operations } as unknown as Engine, journal, () => 0);
  const of = { operationId: "once", call: "add q", items: 3, said: [] };
  return (perform) => calls.once(of, perform);
}

const done: Perform<true> = async (missing) => missing.map(() => ({ ok: true }));

test("an item that met a fault of the broker is done when the call is repeated", async () => {
  const once = start();
  const error = new SluiceError("INTERNAL", "a fault").toJSON();
  const first = await once(async (_, note) => {
    const outcomes: Outcome<true>[] = [{ ok: true }, { error }, { ok: true }];
    note(0, outcomes);
    return outcomes;
  });
  assert.deepEqual(first[1], { error });
  assert.deepEqual(
    await once((missing, note) => {
      assert.deepEqual(missing, [1]);
      return done(missing, note);
    }),
    [{ ok: true }, { ok: true }, { ok: true }],
  );
});

test("a call that fails in the middle answers what it has done", async () => {
  for (const code of ["INTERNAL", "QUEUE_NOT_FOUND", "RATE_LIMITED"] as const) {
    const once = start();
    const failure = new SluiceError(code, "no");
    const middle = once(async (_, note) => {
      note(0, [{ ok: true }]);
      throw failure;
    });
    const error = failure.toJSON();
    assert.deepEqual(await middle, [{ ok: true }, { error }, { error }]);
    const again = once(() => Promise.reject(failure));
    assert.deepEqual(await again, [{ ok: true }, { error }, { error }]);
    assert.deepEqual(await once(done), [{ ok: true }, { ok: true }, { ok: true }]);
  }
});

test("a call that is given up, and one that has done nothing, fail as a whole", async () => {
  for (const code of ["ABORTED", "CLOSED", "LOG_FAILED"] as const) {
    const middle = start()(async (_, note) => {
      note(0, [{ ok: true }]);
      throw new SluiceError(code, "no");
    });
    await assert.rejects(middle, { code });
  }
  const refused = start()(() => Promise.reject(new SluiceError("QUEUE_NOT_FOUND", "no")));
  await assert.rejects(refused, { code: "QUEUE_NOT_FOUND" });
});
