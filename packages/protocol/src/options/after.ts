import type { After } from "../job.ts";
import { invalid, isObject, type Kind, oneOf, TEXT } from "../kinds.ts";

/** A job to wait for as it is given: its id, or anything with one, such as the handle of a job. */
export type GivenAfter = string | After;

const RULE = oneOf(["fail", "run", "wait"] as const);

/** A job that must have ended first. */
export const AFTER: Kind<After, GivenAfter> = {
  words: "the id of a job, a job, or { id, onDependencyFailure }",
  schema: {
    anyOf: [
      { type: "string" },
      {
        type: "object",
        properties: { id: TEXT.schema, onDependencyFailure: RULE.schema },
        required: ["id"],
      },
    ],
  },
  parse(field, value) {
    if (typeof value === "string") return { id: value };
    if (typeof value !== "object" || value === null) throw invalid(field, this.words, value);
    const { id, onDependencyFailure } = value as Partial<After>;
    if (typeof id !== "string") throw invalid(`${field}.id`, "the id of a job", id);
    if (onDependencyFailure === undefined) return { id };
    RULE.parse(`${field}.onDependencyFailure`, onDependencyFailure);
    return { id, onDependencyFailure };
  },
  check(field, value) {
    if (!isObject(value)) throw invalid(field, this.words, value);
    this.parse(field, value);
  },
};
