/** What workers say of jobs that they hold: batches of lease tokens, each with its own answer. */
import {
  type Ack,
  EXTEND,
  NACK,
  type Outcome,
  type Progress,
  rowOf,
  SluiceError,
  type StepResult,
  SUSPENSION,
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
import { operationOf, type RouteContext } from "./context.ts";
import { fieldsOf, judged } from "./judged.ts";
import { route } from "./route.ts";
import * as shapes from "./shapes.ts";
import { about, answers, list, object, results, type Schema, TEXT } from "./shapes.ts";

const OK: Schema = { type: "boolean", const: true };

const ITEMS = { body: new BodyShape({ items: "items" }), bodyLimit: LEASES_BODY_BYTES_MAX };
const LARGE = { ...ITEMS, bodyLimit: BODY_BYTES_HARD_MAX };

/** A call about jobs that are held: how its items are read, and what is answered for each. */
interface HeldCall {
  readonly item: Schema;
  readonly read: (fields: never) => unknown;
  /** The field for a number that is answered, and what it means. */
  readonly field?: readonly [name: string, schema: Schema];
  readonly bodyLimit: number;
  readonly body: BodyShape;
}

const SUSPENDED = "False: the step is done already, and the lease lasts.";
const CUT = "The cooldown that was asked for was cut to this.";

const HELD = {
  ack: {
    ...LARGE,
    item: shapes.ACK,
    read: ackOf,
    body: new BodyShape({ items: "items", raw: ["result"] }),
  },
  nack: {
    ...LARGE,
    item: NACK.schema,
    read: (fields) => NACK.parse("nack", fields),
    field: ["cooldownMs", about(CUT, shapes.MS)],
  },
  giveBack: { ...ITEMS, item: object({ lease: TEXT }, ["lease"]), read: ({ lease }: Ack) => lease },
  extend: {
    ...ITEMS,
    item: EXTEND.schema,
    read: (fields) => EXTEND.parse("extend", fields),
    field: ["expiresAt", shapes.TIME],
  },
  progress: { ...ITEMS, item: shapes.PROGRESS, read: progressOf },
  log: { ...ITEMS, item: shapes.LOGGED, read: (fields) => fields },
  recordStep: { ...LARGE, item: shapes.STEP_RESULT, read: stepOf },
  suspend: {
    ...ITEMS,
    item: SUSPENSION.schema,
    read: (fields) => SUSPENSION.parse("suspend", fields),
    field: ["suspended", about(SUSPENDED, { type: "boolean" })],
  },
} as const satisfies Readonly<Record<string, HeldCall>>;

export function heldRoutes(app: FastifyInstance, context: RouteContext): void {
  for (const [name, call] of Object.entries<HeldCall>(HELD)) {
    heldRoute(app, context, name as keyof typeof HELD, call);
  }
}

type Answers = Promise<Outcome<boolean | number>[]>;

function heldRoute(
  app: FastifyInstance,
  context: RouteContext,
  name: keyof typeof HELD,
  { item, read, field, bodyLimit, body }: HeldCall,
): void {
  const known = Object.keys(item.properties as object);
  const isOnce = rowOf(name).repeat === "once";
  const items = list(judged(item), { maxItems: BATCH_MAX });
  const shown = ({ ok, error }: Outcome<boolean | number>): object => {
    if (error !== undefined) return { error };
    const isTold = typeof ok === "number" || name === "suspend";
    return isTold ? { ok: true, [field![0]]: ok } : { ok: true };
  };
  route<{ Body: { items: readonly unknown[] } }>(app, name, {
    config: { body },
    bodyLimit,
    body: object({ items }, ["items"]),
    response: answers(results(object({ ok: OK, ...(field && { [field[0]]: field[1] }) }))),
    handler: async (request) => {
      const broker = context.broker(request);
      const outcomes = await forReadable(
        request.body.items,
        (one) => read(fieldsOf(name, one, known) as never) as never,
        (all) => broker[name](all, isOnce ? operationOf(request) : {}) as Answers,
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
    throw new SluiceError("INVALID", "progress is missing", { field: "progress" });
  }
  checkDepth("progress", fields.progress);
  return fields;
}

function stepOf(fields: StepResult): StepResult {
  checkDepth("value", fields.value);
  return { ...fields, occurrence: fields.occurrence ?? 0 };
}

/** It is written out again wherever the job is shown. */
export function checkDepth(field: string, value: unknown): void {
  if (!isDeeper(value, JSON_DEPTH_MAX)) return;
  const message = `${field} is nested deeper than ${JSON_DEPTH_MAX} levels`;
  throw new SluiceError("INVALID", message, { field });
}
