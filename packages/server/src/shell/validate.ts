/**
 * Checks what comes in against the schemas that describe it, but for the items of batches, which
 * are judged one by one. A body says what it means: a text is
 * no number and nothing is left out in silence. The rest of a request is made of texts, so there
 * numbers and booleans are read from them.
 */
import { Ajv, type ValidateFunction } from "ajv";
import type { FastifySchemaCompiler } from "fastify";
import { checkedPart } from "../routes/judged.ts";

/**
 * `verbose` tells the value that was wrong, so that the answer can. The schemas are not checked
 * themselves, since that takes 30 ms of the first request: a test checks them.
 */
const OPTIONS = {
  allErrors: false,
  strict: false,
  useDefaults: true,
  verbose: true,
  validateSchema: false,
} as const;

export function newValidator(): FastifySchemaCompiler<object> {
  const exact = new Ajv(OPTIONS);
  const fromText = new Ajv({ ...OPTIONS, coerceTypes: true });
  return ({ schema, httpPart }) => {
    const ajv = httpPart === "body" ? exact : fromText;
    return whenAsked(() => ajv.compile(checkedPart(schema) as object));
  };
}

/** Compiles at the first request: all routes at once are half of the time that a server starts. */
function whenAsked(compile: () => ValidateFunction) {
  let validate: ValidateFunction | undefined;
  const check = (data: unknown): boolean => {
    validate ??= compile();
    const isValid = validate(data) as boolean;
    check.errors = validate.errors ?? null;
    return isValid;
  };
  check.errors = null as Exclude<ValidateFunction["errors"], undefined>;
  return check;
}
