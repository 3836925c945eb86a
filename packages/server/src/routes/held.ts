/** What workers say of jobs that they hold: batches of lease tokens, each with its own answer. */
import {
  type Ack,
  type CallName,
  type Extend,
  type Nack,
  type Outcome,
  type Progress,
  SluiceError,
} from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { forReadable } from "../batch.ts";
import { BodyShape } from "../body/parse-body.ts";
import {
  BATCH_MAX,
  BODY_BYTES_HARD_MAX,
  JSON_DEPTH_MAX,
  LEASES_BODY_BYTES_MAX,
} from "../limits.ts";
import { type Carried, isDeeper, toBytes } from "../payload.ts";
import { described } from "./call-description.ts";
import { operationOf, type RouteContext } from "./context.ts";
import { fieldsOf, judged } from "./judged.ts";
import {
  ANYTHING,
  answers,
  BASE64,
  FLAG,
  list,
  MS,
  object,
  results,
  type Schema,
  TEXT,
  TIME,
} from "./shapes.ts";

const ACKS = new BodyShape({ items: "items", raw: ["result"] });
const ITEMS = new BodyShape({ items: "items" });

const OK: Schema = { type: "boolean", const: true };

function schemaOf(
  name: CallName,
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
  answer: Readonly<Record<string, Schema>> = {},
) {
  const item = object({ lease: TEXT, ...properties }, ["lease", ...required]);
  const items = list(judged(item), { maxItems: BATCH_MAX });
  return {
    ...described(name),
    body: object({ items }, ["items"]),
    response: answers(results(object({ ok: OK, ...answer }))),
  };
}

const NACK: Readonly<Record<string, Schema>> = {
  error: TEXT,
  stack: { ...TEXT, description: "Kept with the job, up to 4 KiB." },
  delayMs: MS,
  cooldown: object({ gate: TEXT, ms: MS, reason: TEXT }, ["gate", "ms"]),
  blame: { anyOf: [list(TEXT), { type: "boolean", const: false }] },
  unrecoverable: FLAG,
};

function outcomeJson({ error }: Outcome<unknown>): object {
  return error === undefined ? { ok: true } : { error };
}

/** A cooldown that was cut is told as it is. */
function nackedJson(outcome: Outcome<true | number>): object {
  return typeof outcome.ok === "number"
    ? { ok: true, cooldownMs: outcome.ok }
    : outcomeJson(outcome);
}

interface Items<I> {
  Body: { items: readonly I[] };
}

export function heldRoutes(app: FastifyInstance, context: RouteContext): void {
  app.route<Items<Carried & { lease: string }>>({
    method: "POST",
    url: "/v1/ack",
    config: { body: ACKS },
    bodyLimit: BODY_BYTES_HARD_MAX,
    schema: schemaOf("ack", { result: ANYTHING, resultBase64: BASE64 }),
    handler: async (request) => {
      const broker = context.broker(request);
      const outcomes = await forReadable(request.body.items, ackOf, (acks) =>
        broker.ack(acks, operationOf(request)),
      );
      return { results: outcomes.map(outcomeJson) };
    },
  });
  app.route<Items<Nack>>({
    method: "POST",
    url: "/v1/nack",
    config: { body: ITEMS },
    bodyLimit: BODY_BYTES_HARD_MAX,
    schema: schemaOf("nack", NACK, [], {
      cooldownMs: { ...MS, description: "The cooldown that was asked for was cut to this." },
    }),
    handler: async (request) => {
      const broker = context.broker(request);
      const read = (item: unknown): Nack => fieldsOf("nack", item, ["lease", ...Object.keys(NACK)]);
      const outcomes = await forReadable(request.body.items, read, (nacks) =>
        broker.nack(nacks, operationOf(request)),
      );
      return { results: outcomes.map(nackedJson) };
    },
  });
  app.route<Items<{ lease: string }>>({
    method: "POST",
    url: "/v1/give-back",
    config: { body: ITEMS },
    bodyLimit: LEASES_BODY_BYTES_MAX,
    schema: schemaOf("giveBack", {}),
    handler: async (request) => {
      const broker = context.broker(request);
      const read = (item: unknown): string => fieldsOf<Ack>("item", item, ["lease"]).lease;
      const outcomes = await forReadable(request.body.items, read, (all) => broker.giveBack(all));
      return { results: outcomes.map(outcomeJson) };
    },
  });
  tellRoutes(app, context);
}

function tellRoutes(app: FastifyInstance, context: RouteContext): void {
  app.route<Items<Extend>>({
    method: "POST",
    url: "/v1/extend",
    config: { body: ITEMS },
    bodyLimit: LEASES_BODY_BYTES_MAX,
    schema: schemaOf("extend", { leaseMs: { ...MS, minimum: 1 } }, ["leaseMs"], {
      expiresAt: TIME,
    }),
    handler: async (request) => {
      const broker = context.broker(request);
      const read = (item: unknown): Extend => fieldsOf("extend", item, ["lease", "leaseMs"]);
      const outcomes = await forReadable(request.body.items, read, (all) => broker.extend(all));
      return {
        results: outcomes.map(({ ok, error }) =>
          error === undefined ? { ok: true, expiresAt: ok } : { error },
        ),
      };
    },
  });
  app.route<Items<Progress>>({
    method: "POST",
    url: "/v1/progress",
    config: { body: ITEMS },
    bodyLimit: LEASES_BODY_BYTES_MAX,
    schema: schemaOf("progress", { progress: ANYTHING }, ["progress"]),
    handler: async (request) => {
      const broker = context.broker(request);
      const outcomes = await forReadable(request.body.items, progressOf, (items) =>
        broker.progress(items),
      );
      return { results: outcomes.map(outcomeJson) };
    },
  });
}

function ackOf(item: unknown): Ack {
  const known = ["lease", "result", "resultBase64"];
  const fields = fieldsOf<Carried & { lease: string }>("ack", item, known);
  const { lease } = fields;
  const result = toBytes("result", fields);
  return result === undefined ? { lease } : { lease, result };
}

function progressOf(item: unknown): Progress {
  const fields = fieldsOf<Progress>("progress", item, ["lease", "progress"]);
  if (fields.progress === undefined) {
    throw new SluiceError("INVALID", "progress must be given", { field: "progress" });
  }
  checkDepth("progress", fields.progress);
  return fields;
}

/** It is written out again wherever the job is shown. */
export function checkDepth(field: string, value: unknown): void {
  if (!isDeeper(value, JSON_DEPTH_MAX)) return;
  const message = `${field} is nested deeper than ${JSON_DEPTH_MAX} levels`;
  throw new SluiceError("INVALID", message, { field });
}
