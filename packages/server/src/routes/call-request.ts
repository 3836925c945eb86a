/** Where the arguments and options of a call are in a request. */
import type { Argument, CallRow, Kind } from "@sluice/protocol";
import type { FastifyRequest } from "fastify";
import { lineOf } from "./call-description.ts";

export type CallRequest = FastifyRequest<{
  Params: Record<string, string>;
  Querystring: Record<string, unknown>;
  Body: Record<string, unknown> | null | undefined;
}>;

type Read = (request: CallRequest) => unknown;

export interface RequestPlan {
  /** How each argument is read. */
  readonly reads: readonly Read[];
  readonly options: (request: CallRequest) => Record<string, unknown>;
  /** Arguments that are fields of the query or of the body. */
  readonly fields: readonly Argument[];
  readonly isQuery: boolean;
  /** The call takes a batch, of which the address names the one item. */
  readonly isOne: boolean;
}

export function planOf(row: CallRow): RequestPlan {
  const { method, params } = lineOf(row.http!.route);
  const isQuery = method === "GET" || method === "DELETE";
  const source = (request: CallRequest): Record<string, unknown> =>
    (isQuery ? request.query : request.body) ?? {};
  const fields: Argument[] = [];
  let isOne = false;
  const reads = row.args.map((argument): Read => {
    const { name, kind } = argument;
    if (row.http!.body === name) return ({ body }) => body;
    // `ids` of an address with an `:id` are that one.
    const one = params.includes(name) ? undefined : params.find((param) => `${param}s` === name);
    const read = inPath(row, one ?? name);
    if (one !== undefined) {
      isOne = true;
      return (request) => [read(request)];
    }
    if (params.includes(name)) return (request) => given(kind, read(request));
    fields.push(argument);
    return (request) => fieldOf(kind, source(request)[name], isQuery);
  });
  const kinds = row.http!.body === undefined ? Object.entries(row.options) : [];
  const options = (request: CallRequest): Record<string, unknown> => {
    const from = source(request);
    const told = kinds.filter(([name]) => from[name] !== undefined);
    return Object.fromEntries(
      told.map(([name, kind]) => [name, fieldOf(kind, from[name], isQuery)]),
    );
  };
  return { reads, options, fields, isQuery, isOne };
}

/** A parameter of the path. A group or flow is named by its queue and its own name. */
function inPath({ about }: CallRow, name: string): (request: CallRequest) => string {
  if (about === "group") return ({ params }) => `${params.queue}/${params[name]}`;
  return ({ params }) => params[name]!;
}

function given(kind: Kind, text: string): unknown {
  return kind.fromText === undefined ? text : kind.fromText(text);
}

/** In a query all values are texts; numbers and flags were read when they were checked. */
function fieldOf(kind: Kind, value: unknown, isQuery: boolean): unknown {
  if (!isQuery || typeof value !== "string") return value;
  if (kind.schema.type === "array") return value.split(",").filter((text) => text !== "");
  return given(kind, value);
}
