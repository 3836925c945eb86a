/** A route written by hand: it is no call of the port, or does more than the call. */
import { type CallName, rowOf, type Schema } from "@sluice/protocol";
import type {
  FastifyContextConfig,
  FastifyInstance,
  RouteGenericInterface,
  RouteHandler,
  RouteOptions,
} from "fastify";
import { closed, described, lineOf, paramsOf } from "./call-description.ts";

export interface Route<R extends RouteGenericInterface> {
  /** Of a route that is no call of the table. */
  readonly about?: readonly [operationId: string, tag: string, summary: string];
  readonly description?: string;
  /** Absent: each is a name. */
  readonly params?: Schema;
  readonly querystring?: Schema;
  readonly body?: Schema;
  readonly response: Schema;
  readonly bodyLimit?: number;
  readonly config?: FastifyContextConfig;
  readonly handler: RouteHandler<R>;
}

/** Adds the route of a call, or one such as `GET /v1/apps/:name`. */
export function route<R extends RouteGenericInterface>(
  app: FastifyInstance,
  name: CallName | `${string} /${string}`,
  { about, handler, bodyLimit, config, ...schema }: Route<R>,
): void {
  const isCall = about === undefined;
  const line = lineOf(isCall ? rowOf(name as CallName).http!.route : name);
  const told = isCall
    ? described(name as CallName)
    : { operationId: about[0], tags: [about[1]], summary: about[2], ...paramsOf(line.params) };
  app.route({
    method: line.method,
    url: line.url,
    schema: closed(line, { ...told, ...schema }),
    handler: handler as RouteOptions["handler"],
    ...(bodyLimit === undefined ? {} : { bodyLimit }),
    ...(config === undefined ? {} : { config }),
  });
}
