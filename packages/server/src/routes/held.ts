/** What workers say of jobs that they hold: batches of lease tokens, each with its own answer. */
import {
  type Ack,
  type Broker,
  type CallName,
  EXTEND,
  type Extend,
  NACK,
  type Nack,
  type OperationOptions,
  type Outcome,
  type Progress,
  rowOf,
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
import { described, lineOf } from "./call-description.ts";
import { operationOf, type RouteContext } from "./context.ts";
import { fieldsOf, judged } from "./judged.ts";
import {
  ACK,
  about,
  answers,
  list,
  MS,
  object,
  PROGRESS,
  results,
  type Schema,
  TEXT,
  TIME,
} from "./shapes.ts";

const OK: Schema = { type: "boolean", const: true };

const ACKS = new BodyShape({ items: "items", raw: ["result"] });
const ITEMS = new BodyShape({ items: "items" });

/** A call about jobs that are held: how its items are read, and what is answered for each. */
interface HeldCall<I> {
  readonly name: CallName;
  readonly item: Schema;
  readonly read: (fields: never) => I;
  readonly make: (
    broker: Broker,
    items: readonly I[],
    options: OperationOptions,
  ) => Promise<Outcome<true | number>[]>;
  /** The field for a number that is answered, and what it means. */
  readonly field?: readonly [name: string, schema: Schema];
  readonly bodyLimit: number;
  readonly body: BodyShape;
}

export function heldRoutes(app: FastifyInstance, context: RouteContext): void {
  const large = { bodyLimit: BODY_BYTES_HARD_MAX, body: ITEMS };
  const small = { bodyLimit: LEASES_BODY_BYTES_MAX, body: ITEMS };
  heldRoute<Ack>(app, context, {
    name: "ack",
    item: ACK,
    read: ackOf,
    make: (broker, items, options) => broker.ack(items, options),
    ...large,
    body: ACKS,
  });
  heldRoute<Nack>(app, context, {
    name: "nack",
    item: NACK.schema,
    read: (fields) => NACK.parse("nack", fields),
    make: (broker, items, options) => broker.nack(items, options),
    field: ["cooldownMs", about("The cooldown that was asked for was cut to this.", MS)],
    ...large,
  });
  heldRoute<string>(app, context, {
    name: "giveBack",
    item: object({ lease: TEXT }, ["lease"]),
    read: ({ lease }: Ack) => lease,
    make: (broker, items) => broker.giveBack(items),
    ...small,
  });
  heldRoute<Extend>(app, context, {
    name: "extend",
    item: EXTEND.schema,
    read: (fields) => EXTEND.parse("extend", fields),
    make: (broker, items) => broker.extend(items),
    field: ["expiresAt", TIME],
    ...small,
  });
  heldRoute<Progress>(app, context, {
    name: "progress",
    item: PROGRESS,
    read: progressOf,
    make: (broker, items) => broker.progress(items),
    ...small,
  });
}

function heldRoute<I>(app: FastifyInstance, context: RouteContext, call: HeldCall<I>): void {
  const { name, item, read, make, field, bodyLimit, body } = call;
  const { method, url } = lineOf(rowOf(name));
  const known = Object.keys(item.properties as object);
  const items = list(judged(item), { maxItems: BATCH_MAX });
  const shown = ({ ok, error }: Outcome<true | number>): object => {
    if (error !== undefined) return { error };
    return typeof ok === "number" ? { ok: true, [field![0]]: ok } : { ok: true };
  };
  app.route<{ Body: { items: readonly unknown[] } }>({
    method,
    url,
    config: { body },
    bodyLimit,
    schema: {
      ...described(name),
      body: object({ items }, ["items"]),
      response: answers(results(object({ ok: OK, ...(field && { [field[0]]: field[1] }) }))),
    },
    handler: async (request) => {
      const broker = context.broker(request);
      const outcomes = await forReadable(
        request.body.items,
        (one) => read(fieldsOf(name, one, known) as never),
        (all) => make(broker, all, operationOf(request)),
      );
      return { results: outcomes.map(shown) };
    },
  });
}

function ackOf(fields: Carried & Ack): Ack {
  const { lease } = fields;
  const result = toBytes("result", fields);
  return result === undefined ? { lease } : { lease, result };
}

function progressOf(fields: Progress): Progress {
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
