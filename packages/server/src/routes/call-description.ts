/** What the row of a call says about its HTTP route, as OpenAPI tells it. */
import {
  type Argument,
  type CallName,
  type CallRow,
  type Kind,
  rowOf,
  type Schema,
} from "@sluice/protocol";
import { judged } from "./judged.ts";
import { answers, DONE, NAME, object, results, TEXT } from "./shapes.ts";

/** A job id in an address. */
const ID: Schema = { type: "string", maxLength: 64 };

/** Texts of a list in a query. */
const TEXTS: Schema = { type: "string", maxLength: 8192 };

const OPERATION: Schema = {
  type: "object",
  properties: {
    "idempotency-key": {
      type: "string",
      minLength: 1,
      maxLength: 255,
      description: "A call that is repeated with the same key gets its first answer again.",
    },
  },
};

export interface RouteLine {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly url: string;
  /** Names of the parameters of its path. */
  readonly params: readonly string[];
}

export function lineOf(route: string): RouteLine {
  const [method, url] = route.split(" ") as [RouteLine["method"], string];
  return { method, url, params: [...url.matchAll(/:(\w+)/g)].map(([, name]) => name!) };
}

/** Name, sentence, parameters and headers of a route, also of one that is written by hand. */
export function described(name: CallName): Readonly<Record<string, unknown>> {
  const row = rowOf(name);
  const { params } = lineOf(row.http!.route);
  return {
    operationId: name,
    summary: row.says,
    tags: [row.about],
    ...paramsOf(params, row),
    ...(row.repeat === "once" ? { headers: OPERATION } : {}),
  };
}

/** The parameters of a path; those of a call as its arguments describe them. */
export function paramsOf(params: readonly string[], row?: CallRow): { params?: Schema } {
  if (params.length === 0) return {};
  const inPath = params.map((param) => [param, paramSchema(row, param)] as const);
  return { params: object(Object.fromEntries(inPath), params) };
}

function paramSchema(row: CallRow | undefined, name: string): Schema {
  const argument = row?.args.find((one) => one.name === name);
  if (name === "id") return ID;
  if (argument === undefined || row?.about === "group") return NAME;
  const { fromText, schema, words } = argument.kind;
  return fromText === undefined ? schema : { ...TEXT, description: words };
}

/** Fields of a query; a list is one text. */
export function querySchema(row: CallRow, fields: readonly Argument[], pageMax?: number): Schema {
  const properties = allFields(row, fields).map(({ name, kind }): [string, Schema] => {
    if (name === "limit" && pageMax !== undefined) {
      return [name, { ...kind.schema, maximum: pageMax }];
    }
    if (kind.schema.type !== "array") return [name, kind.schema];
    return [
      name,
      { ...TEXTS, description: `${kind.schema.description} With commas between them.` },
    ];
  });
  return object(Object.fromEntries(properties), requiredOf(fields));
}

/** Fields of a body, which can be left out when none of them is needed. */
export function bodySchema(row: CallRow, fields: readonly Argument[]): Schema {
  const all = allFields(row, fields).map(({ name, kind }) => [name, bodyPart(kind)] as const);
  const required = requiredOf(fields);
  const body = object(Object.fromEntries(all), required);
  return required.length === 0 ? { ...body, type: ["object", "null"] } : body;
}

/** A body that can be left out and has no fields. */
const NO_FIELDS: Schema = { ...object({}), type: ["object", "null"] };

/**
 * The schema of a route with the parts that it does not name closed: a field that the route would
 * ignore is refused. Pages, probes and metrics are outside `/v1` and take any query.
 */
export function closed<S extends object>({ method, url }: RouteLine, schema: S): object {
  if (!url.startsWith("/v1/")) return schema;
  const body = method === "GET" ? {} : { body: NO_FIELDS };
  return { querystring: object({}), ...body, ...schema };
}

/** Of values with several forms the broker says more clearly what is wrong. */
export function bodyPart({ schema }: Kind): Schema {
  return "anyOf" in schema || "properties" in schema ? judged(schema) : schema;
}

function allFields(row: CallRow, fields: readonly Argument[]): readonly Argument[] {
  const options = Object.entries(row.options);
  return [...fields, ...options.map(([name, kind]) => ({ name, kind, isOptional: true }))];
}

function requiredOf(fields: readonly Argument[]): string[] {
  return fields.filter(({ isOptional }) => !isOptional).map(({ name }) => name);
}

/** The answers of a call; `isOne`: of a batch of the one item that the address names. */
export function answerSchema({ answer, each, http }: CallRow, isOne: boolean): Schema {
  if (answer === undefined) return DONE;
  const { field } = http!;
  if (each && !isOne) return answers(results(object({ [field ?? "ok"]: answer })));
  const one = isOne && !each ? (answer.items as Schema) : answer;
  if (field !== undefined) return answers(object({ [field]: one }, [field]));
  return answers(one.type === "array" ? object({ items: one }, ["items"]) : one);
}
