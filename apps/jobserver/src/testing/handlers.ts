// Handlers for tests: one that writes down in which order jobs ran, one that holds its worker.

import { appendFileSync, existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type { JobHandlers } from "../handlers/handler.ts";

const { RAN, RELEASE } = process.env;

const handlers: JobHandlers = {
  note: (args) => {
    appendFileSync(RAN!, `${JSON.stringify(args)}\n`);
    return args;
  },
  hold: async (_args, { signal }) => {
    while (!existsSync(RELEASE!)) await setTimeout(5, undefined, { signal });
  },
  fail: () => {
    throw new Error("as it was asked to");
  },
};

export default handlers;
