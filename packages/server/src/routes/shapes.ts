/** Shapes of HTTP, beside those of the port: answers with their refusals, and addresses. */
import { ERROR_JSON, list, object, type Schema } from "@sluice/protocol/shapes";

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

/** Answers by their status, and the ways to be refused. */
export function refusable(answers: Readonly<Record<string, Schema>>): Schema {
  return { ...answers, "4xx": ERROR, "5xx": ERROR };
}

/** The answers of a call: a good one, and the ways to be refused. */
export function answers(ok: Schema): Schema {
  return refusable({ 200: ok });
}

/** The answers of a call with a body of its own kind, such as a stream of events. */
export function content(type: string, description: string): Schema {
  return answers({ description, content: { [type]: { schema: { type: "string" } } } });
}

const NOTHING: Schema = { type: "null", description: "Done." };

/** The answers of a call that has nothing to tell. */
export const DONE: Schema = refusable({ 204: NOTHING });

/** How payloads and results are shown. */
export const ENCODING: Schema = { type: "string", enum: ["auto", "base64"] };

/** A page size. */
export function limit(max: number): Schema {
  return { type: "integer", minimum: 1, maximum: max };
}
