// A reporter for Node's test runner: one JSON object per line, for the tally to read.

import { inspect } from "node:util";
import type { TestRecord } from "./record.ts";

interface RunnerEvent {
  readonly type: string;
  readonly data: {
    readonly name?: string;
    readonly nesting?: number;
    readonly file?: string;
    readonly line?: number;
    readonly skip?: string | boolean;
    readonly todo?: string | boolean;
    readonly message?: string;
    readonly duration_ms?: number;
    readonly details?: {
      readonly type?: string;
      readonly duration_ms?: number;
      readonly error?: Error & { failureType?: string };
    };
  };
}

const REPORTED = new Set([
  "test:dequeue",
  "test:complete",
  "test:start",
  "test:pass",
  "test:fail",
  "test:stdout",
  "test:stderr",
  "test:summary",
]);

function toRecord({ type, data }: RunnerEvent): TestRecord {
  const error = data.details?.error;
  return {
    type,
    name: data.name ?? "",
    nesting: data.nesting ?? 0,
    file: data.file ?? "",
    line: data.line ?? 0,
    isSuite: data.details?.type === "suite",
    isSkipped: (data.skip ?? data.todo ?? false) !== false,
    failureType: error?.failureType ?? "",
    // Node wraps what a test threw; the reader wants the cause with its own stack.
    error: error === undefined ? "" : inspect(error.cause ?? error, { depth: 8 }),
    text: data.message ?? "",
    durationMs: data.duration_ms ?? data.details?.duration_ms ?? 0,
  };
}

export default async function* report(events: AsyncIterable<RunnerEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (REPORTED.has(event.type)) yield `${JSON.stringify(toRecord(event))}\n`;
  }
}
