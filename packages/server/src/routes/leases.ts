import {
  type Broker,
  type Duration,
  LEASE,
  type LeasedJob,
  type Outcome,
  SluiceError,
  WAIT,
} from "@sluice/protocol";
import type { FastifyInstance, FastifyReply } from "fastify";
import { LEASE_MAX, LEASE_PAYLOAD_BYTES_MAX, SLICE_BYTES } from "../limits.ts";
import type { Encoding } from "../payload.ts";
import { goneSignal, type RouteContext } from "./context.ts";
import { leasedBytes } from "./job-json.ts";
import { judged } from "./judged.ts";
import { route } from "./route.ts";
import { about, answers, ENCODING, LEASED, list, object, TEXT } from "./shapes.ts";

interface LeaseBody {
  max?: number;
  wait?: Duration;
  lease?: Duration;
  worker?: string;
  encoding?: Encoding;
}

export function leaseRoutes(app: FastifyInstance, context: RouteContext): void {
  route<{ Params: { queue: string }; Body: LeaseBody }>(app, "POST /v1/queues/:queue/lease", {
    about: ["lease", "queue", "Take jobs, or wait for some"],
    description:
      "A long poll: answers as soon as there is a job, or with none after `wait`. A caller that " +
      "goes away takes nothing with it.",
    body: object({
      max: { type: "integer", minimum: 1, maximum: LEASE_MAX, default: 1 },
      wait: judged(WAIT.schema),
      lease: judged(
        about("How long each lease lasts; else as the job or the queue says.", LEASE.schema),
      ),
      worker: TEXT,
      encoding: about("`base64`: payloads as bytes, JSON or not.", ENCODING),
    }),
    response: answers(object({ jobs: list(LEASED) }, ["jobs"])),
    handler: async (request, reply) => {
      const { encoding = "auto", ...options } = request.body;
      const broker = context.broker(request);
      const gone = goneSignal(reply);
      const signal = AbortSignal.any([gone, context.closing]);
      const max = options.max ?? 1;
      const jobs = await broker
        .lease(request.params.queue, { ...options, max, signal })
        .catch((error: unknown) => endPoll(error, signal));
      const [kept, returned] = fit(jobs);
      if (returned.length > 0) await giveBack(broker, returned);
      whenGone(gone, () => void giveBack(broker, kept).catch(() => {}));
      return send(reply, kept, encoding);
    },
  });
}

/** A poll that is open when the server closes is answered with no jobs. */
function endPoll(error: unknown, signal: AbortSignal): LeasedJob[] {
  if (signal.aborted && error instanceof SluiceError && error.code === "ABORTED") return [];
  throw error;
}

/** Puts the answer together in slices: its payloads may have 16 MiB in all. */
async function send(
  reply: FastifyReply,
  jobs: readonly LeasedJob[],
  encoding: Encoding,
): Promise<FastifyReply> {
  const parts: Uint8Array[] = [Buffer.from('{"jobs":[')];
  let bytes = 0;
  for (const [i, job] of jobs.entries()) {
    if (i > 0) parts.push(COMMA);
    for (const part of await leasedBytes(job, encoding)) parts.push(part);
    bytes += job.payload.length;
    if (bytes < SLICE_BYTES) continue;
    bytes = 0;
    await new Promise(setImmediate);
  }
  reply.header("content-type", "application/json; charset=utf-8");
  parts.push(END);
  return reply.send(Buffer.concat(parts));
}

const COMMA = Buffer.from(",");
const END = Buffer.from("]}");

/** As many as one answer should carry; the first in any case. */
function fit(jobs: readonly LeasedJob[]): [LeasedJob[], LeasedJob[]] {
  let bytes = 0;
  const first = jobs.findIndex(({ payload }, i) => {
    bytes += payload.length;
    return i > 0 && bytes > LEASE_PAYLOAD_BYTES_MAX;
  });
  const end = first === -1 ? jobs.length : first;
  return [jobs.slice(0, end), jobs.slice(end)];
}

function giveBack(broker: Broker, jobs: readonly LeasedJob[]): Promise<Outcome<true>[]> {
  return broker.giveBack(jobs.map(({ lease }) => lease));
}

function whenGone(gone: AbortSignal, call: () => void): void {
  if (gone.aborted) call();
  else gone.addEventListener("abort", call, { once: true });
}
