/**
 * Standard Schema, version 1 (https://standardschema.dev), written out as types: zod, valibot,
 * arktype and others speak it, and Sluice depends on none of them.
 *
 * A payload is checked when it is added, and what comes out is stored; it is checked again when it
 * is handed out, because the code may have changed since. So a schema must accept its own output.
 */
import { SluiceError } from "@sluice/protocol";
import { ISSUES_MAX } from "./limits.ts";

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type InputOf<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["input"];
export type OutputOf<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["output"];

export function isSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const standard = (value as Partial<StandardSchema>)["~standard"];
  return standard?.version === 1 && typeof standard.validate === "function";
}

/** What a schema is asked about. */
type Root = "payload" | "result";

/** What the schema makes of a value; a promise only when the schema is one that waits. */
export function validate(
  schema: StandardSchema,
  value: unknown,
  root: Root = "payload",
): unknown | Promise<unknown> {
  let result: SchemaResult<unknown> | Promise<SchemaResult<unknown>>;
  try {
    result = schema["~standard"].validate(value);
  } catch (error) {
    throw thrown(error, root);
  }
  if (!(result instanceof Promise)) return take(result, root);
  return result.then(
    (answer) => take(answer, root),
    (error) => {
      throw thrown(error, root);
    },
  );
}

function take(result: SchemaResult<unknown>, root: Root): unknown {
  if (result.issues === undefined) return result.value;
  const issues = result.issues.slice(0, ISSUES_MAX).map((issue) => ({
    path: pathOf(issue, root),
    message: issue.message,
  }));
  const text = issues.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw new SluiceError("SCHEMA", text, { field: issues[0]?.path ?? root, issues });
}

/** A schema that throws instead of answering is treated like one that says no. */
function thrown(error: unknown, root: Root): SluiceError {
  const why = error instanceof Error ? error.message : String(error);
  return new SluiceError("SCHEMA", `${root}: ${why}`, { field: root }, { cause: error });
}

function pathOf({ path = [] }: SchemaIssue, root: Root): string {
  let text: string = root;
  for (const part of path) {
    const key = typeof part === "object" ? part.key : part;
    text += typeof key === "number" ? `[${key}]` : `.${String(key)}`;
  }
  return text;
}
