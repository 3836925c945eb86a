// Handlers that harm the place they run in: they compute, throw late, exit or take all memory.

import { appendFileSync } from "node:fs";
import type { JobHandlers } from "../handlers/handler.ts";

const handlers: JobHandlers = {
  echo: (args) => args,
  where: () => ({ pid: process.pid, key: process.env.API_KEY ?? null }),
  spin: (args) => {
    const until = Date.now() + (args as { ms: number }).ms;
    while (Date.now() < until);
    return "done";
  },
  heed: (_args, { signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    }),
  ignore: () => new Promise(() => {}),
  exit: () => process.exit(7),
  throwLate: () =>
    new Promise(() => {
      setImmediate(() => {
        throw new RangeError("thrown from a timer");
      });
    }),
  // Its job has ended when it throws.
  throwAfter: (args) => {
    setTimeout(() => {
      throw new RangeError("thrown after its end");
    }, Number(args));
    return "ended";
  },
  exitAfter: (args) => {
    setTimeout(() => process.exit(8), Number(args));
    return "ended";
  },
  rejectAfter: (args) => {
    setTimeout(() => void Promise.reject(new Error("a rejection")), Number(args));
    return "ended";
  },
  wait: (args) => new Promise((resolve) => setTimeout(resolve, Number(args), "waited")),
  eat: () => {
    const eaten: unknown[] = [];
    for (;;) eaten.push(new Array(100_000).fill(eaten.length));
  },
  progress: async (_args, { progress }) => {
    await progress({ share: 0.5 });
    return "told";
  },
  fail: () => {
    throw new TypeError("as it was asked to");
  },
  later: () => {
    throw Object.assign(new Error("busy"), { name: "RetryAfter", delay: 5 });
  },
  url: () => new URL("http://a/b"),
  big: () => ({ value: 1n }),
  nothing: () => undefined,
  large: (args) => "x".repeat(Number(args)),
  // One type of job that does, in turn, what others do: known to be small, and then not.
  either: (args, context) => {
    const { type, args: own, note } = args as { type: string; args?: unknown; note?: string };
    if (note !== undefined) appendFileSync(note, `${type}\n`);
    return handlers[type]!(own, context);
  },
};

export default handlers;
