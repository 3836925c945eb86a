import type { Socket } from "node:net";
import type { Broker, Clock, OperationOptions, ServerLimits } from "@sluice/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { AuditAction, AuditCaller, AuditLog } from "../audit/audit-log.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import type { EventWebhooks } from "../webhooks/webhooks.ts";

/** What the routes stand on. */
export interface RouteContext {
  /** The broker as the caller may use it; refuses with RECOVERING while there is none. */
  broker(request: FastifyRequest): Broker;
  /** The partitions of a cluster that do not answer; no call of the caller's. */
  missing(): Promise<readonly number[] | undefined>;
  /** Refuses when the server asks for no keys. */
  keys(): KeyRing;
  readonly webhooks: EventWebhooks;
  readonly audit: {
    readonly log: AuditLog;
    caller(request: FastifyRequest): AuditCaller;
  };
  readonly limits: ServerLimits;
  readonly clock: Clock;
  /** Aborted when the server begins to close. */
  readonly closing: AbortSignal;
}

/** Aborted when the caller has gone before all of the answer was sent. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return gone.signal;
}

const signals = new WeakMap<Socket, AbortSignal>();

/**
 * Aborted when the connection of the caller is lost. All requests of a connection share it: with
 * one for each request an add took a tenth longer. The socket is the request's: an answer has none
 * until the requests before it on its connection are answered.
 */
export function lostSignal({ raw: { socket } }: FastifyRequest): AbortSignal {
  if (socket.destroyed) return AbortSignal.abort();
  const known = signals.get(socket);
  if (known !== undefined) return known;
  const gone = new AbortController();
  socket.once("close", () => gone.abort());
  signals.set(socket, gone.signal);
  return gone.signal;
}

/** A call under an `Idempotency-Key` that is repeated gets its first answer again. */
export function operationOf({ headers }: FastifyRequest): OperationOptions {
  const operationId = headers["idempotency-key"];
  return typeof operationId === "string" ? { operationId } : {};
}

/** Does what is no call of the port, with its entry in the audit log. */
export function withEntry<T>(
  { audit }: RouteContext,
  request: FastifyRequest,
  [action, on, detail = ""]: readonly [action: string, on: string, detail?: string],
  act: () => Promise<T>,
): Promise<T> {
  const told: AuditAction = { action, on, detail };
  return audit.log.record(audit.caller(request), told, act);
}
