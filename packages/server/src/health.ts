import { type Broker, type SluiceError, toSluiceError } from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { STUCK_MS } from "./limits.ts";
import { route } from "./routes/route.ts";
import { answers, FLAG, object, refusable, TEXT } from "./routes/shapes.ts";

/** How a server that is up is getting on. */
export interface Readiness {
  isReady: boolean;
  /** In words, for people. */
  text: string;
}

export interface RecoveryProgress {
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** Health needs no key: a word, no figures. */
export function healthRoutes(app: FastifyInstance, readiness: () => Promise<Readiness>): void {
  const answer = object({ ok: FLAG, text: TEXT }, ["ok", "text"]);
  const config = { isPublic: true };
  route(app, "GET /healthz", {
    about: ["getHealth", "health", "Whether the process answers"],
    response: answers(answer),
    config,
    handler: async () => ({ ok: true, text: "alive" }),
  });
  route(app, "GET /readyz", {
    about: ["getReadiness", "health", "Whether it makes progress"],
    description: "Not while the log is read, after it has failed, or when work is left undone.",
    response: refusable({ 200: answer, 503: answer }),
    config,
    handler: async (_, reply) => {
      const { isReady, text } = await readiness();
      return reply.code(isReady ? 200 : 503).send({ ok: isReady, text });
    },
  });
}

export function recovering(progress: RecoveryProgress | undefined): Readiness {
  const { doneBytes = 0, totalBytes = 0 } = progress ?? {};
  const percent = totalBytes === 0 ? 0 : Math.min(100, Math.floor((100 * doneBytes) / totalBytes));
  return { isReady: false, text: `recovering, ${percent} %` };
}

/** What a node of a cluster answers for itself. */
export interface OwnPart {
  /** Why it cannot do its part. */
  readonly trouble?: string | undefined;
  /** What is about to keep it from its part; it is ready all the same. */
  readonly warning?: string | undefined;
  /** The brokers of the partitions that it serves. */
  readonly brokers: readonly Broker[];
}

/** A node is ready when it is in its cluster and its own partitions are; others have their own. */
export async function nodeReadiness({ trouble, warning, brokers }: OwnPart): Promise<Readiness> {
  if (trouble !== undefined) return { isReady: false, text: trouble };
  const all = await Promise.all(brokers.map(brokerReadiness));
  const ready = warning === undefined ? READY : { isReady: true, text: `ready, but ${warning}` };
  return all.find(({ isReady }) => !isReady) ?? ready;
}

/** A broker is ready when its log takes what it is given and its work gets done. */
export async function brokerReadiness(broker: Broker): Promise<Readiness> {
  try {
    const { unsyncedFor, overdueBy } = await broker.stats();
    if (unsyncedFor > STUCK_MS) return stuck("a write to the log has taken", unsyncedFor);
    if (overdueBy > STUCK_MS) return stuck("work has been left undone for", overdueBy);
    return READY;
  } catch (error) {
    return { isReady: false, text: failureText(toSluiceError(error)) };
  }
}

const READY: Readiness = { isReady: true, text: "ready" };

function stuck(what: string, ms: number): Readiness {
  return { isReady: false, text: `${what} ${Math.round(ms / 1000)} s` };
}

function failureText(error: SluiceError): string {
  if (error.code === "LOG_FAILED") return "the log has failed: nothing more is confirmed";
  return error.code === "CLOSED" ? "closed" : `not ready: ${error.code}`;
}
