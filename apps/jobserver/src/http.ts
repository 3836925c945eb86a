/** The server's HTTP: what it answers, also when a job ends without a result. */
import type { FastifyReply } from "fastify";
import { SluiceError } from "sluice";
import type { HttpApp } from "sluice/http";
import type { JobServer } from "./job-server.ts";
import { BODY_BYTES_MAX, WAIT_SECONDS_MAX } from "./limits.ts";

interface OfJob {
  Params: { uid: string };
}

interface OfResult extends OfJob {
  Querystring: { wait_seconds?: number };
}

export function routes(app: HttpApp, server: JobServer, closing: AbortSignal): void {
  const submission = { schema: about("addJob", "Submit a job"), bodyLimit: BODY_BYTES_MAX };
  app.post("/job/add", submission, async (request, reply) => {
    return reply.code(201).send(await server.add(request.body));
  });
  app.get<OfJob>(
    "/job/status/:uid",
    { schema: about("getJobStatus", "The status of a job") },
    ({ params }, reply) => orGone(reply, () => server.status(params.uid)),
  );
  app.get<OfResult>(
    "/job/result/:uid",
    { schema: { ...about("getJobResult", "A job's result"), querystring: WAIT } },
    ({ params, query }, reply) => {
      const waiting = patience(reply, query.wait_seconds ?? 0, closing);
      return orGone(reply, () => server.result(params.uid, waiting));
    },
  );
  app.delete<OfJob>(
    "/job/:uid",
    { schema: about("cancelJob", "Cancel a job") },
    ({ params }, reply) =>
      orGone(reply, async () => ({ uid: params.uid, cancelled: await server.cancel(params.uid) })),
  );
  app.get("/job/queue/stats", { schema: about("getQueueStats", "Depths and counts") }, () =>
    server.stats.report(),
  );
}

const NO_WAIT = AbortSignal.abort();

/** Over when the time is, when the client has gone, and when the server stops. */
function patience({ raw }: FastifyReply, seconds: number, closing: AbortSignal): AbortSignal {
  if (seconds === 0) return NO_WAIT;
  const answered = new AbortController();
  raw.once("close", () => answered.abort());
  return AbortSignal.any([AbortSignal.timeout(seconds * 1000), answered.signal, closing]);
}

const WAIT = {
  type: "object",
  properties: {
    wait_seconds: { type: "number", minimum: 0, maximum: WAIT_SECONDS_MAX },
  },
};

function about(operationId: string, summary: string): object {
  return { operationId, summary, tags: ["jobs"] };
}

/** A job that was there and is no longer kept is gone, which is not the same as unknown. */
async function orGone<Answer>(
  reply: FastifyReply,
  answer: () => Promise<Answer>,
): Promise<Answer | FastifyReply> {
  try {
    return await answer();
  } catch (error) {
    const isGone = error instanceof SluiceError && error.code === "ALREADY_FINISHED";
    if (!isGone) throw error;
    return reply.code(410).send({ error: error.toJSON() });
  }
}
