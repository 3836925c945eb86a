/** Parsed options are the engine's types: a field that a side lacks does not compile. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { GateConfig, JobSpec, QueueConfig } from "@sluice/engine";
import type { ParsedFields } from "../fields.ts";
import type { JobFields } from "../job.ts";
import type { GATE_OPTIONS, GateOptions, GateSettings } from "./gate-options.ts";
import type { JOB_OPTIONS } from "./job-options.ts";
import type { QUEUE_OPTIONS, QueueOptions, QueueSettings } from "./queue-options.ts";

/** `true` when every `A` can be used as a `B`. */
type Is<A, B> = [A] extends [B] ? true : false;
type NamesOf<T> = keyof T;

/** `spread` is for a cluster to act on, and the default of `dlq` needs the name of the queue. */
type ParsedQueue = Omit<ParsedFields<typeof QUEUE_OPTIONS>, "spread" | "dlq"> &
  Pick<QueueConfig, "dlq">;

test("a parsed option has the type of the engine, and the engine has no other", () => {
  const facts: true[] = [
    true satisfies Is<ParsedFields<typeof GATE_OPTIONS>, GateConfig>,
    true satisfies Is<NamesOf<GateConfig>, NamesOf<ParsedFields<typeof GATE_OPTIONS>>>,
    true satisfies Is<ParsedQueue, QueueConfig>,
    true satisfies Is<NamesOf<QueueConfig>, NamesOf<ParsedQueue>>,
    true satisfies Is<NamesOf<ParsedFields<typeof JOB_OPTIONS>>, NamesOf<JobFields>>,
    true satisfies Is<NamesOf<JobFields>, NamesOf<ParsedFields<typeof JOB_OPTIONS>>>,
    true satisfies Is<Omit<JobFields, "dedupe" | "headers" | "after">, JobSpec>,
  ];
  assert.ok(facts.every(Boolean));
});

test("settings in an answer can be given as options again", () => {
  const facts: true[] = [
    true satisfies Is<GateSettings, GateOptions>,
    true satisfies Is<QueueSettings, QueueOptions>,
  ];
  assert.ok(facts.every(Boolean));
});
