/**
 * Checks what comes in against the schemas that describe it. A body says what it means: a text is
 * no number and nothing is left out in silence. The rest of a request is made of texts, so there
 * numbers and booleans are read from them.
 */
import { Ajv } from "ajv";
import type { FastifySchemaCompiler } from "fastify";

/** `verbose` tells the value that was wrong, so that the answer can. */
const OPTIONS = { allErrors: false, strict: false, useDefaults: true, verbose: true } as const;

export function newValidator(): FastifySchemaCompiler<object> {
  const exact = new Ajv(OPTIONS);
  const fromText = new Ajv({ ...OPTIONS, coerceTypes: true });
  return ({ schema, httpPart }) => (httpPart === "body" ? exact : fromText).compile(schema);
}
