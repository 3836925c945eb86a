/** Shapes of HTTP, beside those of the port: answers with their refusals, and addresses. */
import { ERROR_JSON, list, NAME, object, type Schema } from "@sluice/protocol/shapes";

export * from "@sluice/protocol/shapes";

export const ERROR: Schema = {
  description: "Refused. The code is stable, the message is for people.",
  ...object({ error: ERROR_JSON }, ["error"]),
};

/** For each item of a batch: what came of it, or why it was refused. */
export function results({ properties }: Schema): Schema {
  const fields = { ...(properties as Readonly<Record<string, Schema>>), error: ERROR_JSON };
  return object({ results: list(object(fields)) }, ["results"]);
}

/** The answers of a call: a good one, and the ways to be refused. */
export function answers(ok: Schema, others: Readonly<Record<string, Schema>> = {}): Schema {
  return { 200: ok, ...others, "4xx": ERROR, "5xx": ERROR };
}

const NOTHING: Schema = { type: "null", description: "Done." };

/** The answers of a call that has nothing to tell. */
export const DONE: Schema = { 204: NOTHING, "4xx": ERROR, "5xx": ERROR };

export const QUEUE_PARAMS: Schema = object({ queue: NAME }, ["queue"]);

/** A page size. */
export function limit(max: number): Schema {
  return { type: "integer", minimum: 1, maximum: max };
}
