/** Long polls for the end of a job or a group, for callers that have no stream. */
import { type GroupInfo, type JobEnd, SluiceError, WAIT } from "@sluice/protocol";
import type { FastifyInstance, FastifyReply } from "fastify";
import { type Encoding, fromBytes } from "../payload.ts";
import { goneSignal, type RouteContext } from "./context.ts";
import { judged } from "./judged.ts";
import { route } from "./route.ts";
import { answers, ENCODING, END, GROUP_INFO, object } from "./shapes.ts";

interface Wait {
  wait?: string;
}

/** Its parser says more clearly what is wrong. */
const WAITING = judged(WAIT.schema);

export function endRoutes(app: FastifyInstance, context: RouteContext): void {
  route<{ Params: { id: string }; Querystring: Wait & { encoding?: Encoding } }>(app, "ended", {
    description: "A long poll: answers when the job ends, and after `wait` that it has not.",
    querystring: object({ wait: WAITING, encoding: ENCODING }),
    response: answers(END),
    handler: async (request, reply) => {
      const { id } = request.params;
      const { wait, encoding = "auto" } = request.query;
      const broker = context.broker(request);
      const end = await within(context, reply, wait, (signal) => broker.ended(id, { signal }));
      return end === undefined ? { ended: false, id } : endJson(end, encoding);
    },
  });
  route<{ Params: { queue: string; group: string }; Querystring: Wait }>(app, "groupEnded", {
    description: "A long poll: answers when the group ends, and after `wait` as it is then.",
    querystring: object({ wait: WAITING }),
    response: answers(GROUP_INFO),
    handler: async (request, reply): Promise<GroupInfo> => {
      const broker = context.broker(request);
      const name = `${request.params.queue}/${request.params.group}`;
      const ended = await within(context, reply, request.query.wait, (signal) =>
        broker.groupEnded(name, { signal }),
      );
      return ended ?? broker.group(name);
    },
  });
}

/** What a call answers within the time; undefined: nothing yet, or the caller or server leaves. */
async function within<T>(
  context: RouteContext,
  reply: FastifyReply,
  wait: string | undefined,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const waitMs = WAIT.parse("wait", WAIT.fromText!(String(wait ?? 0)));
  const time = new AbortController();
  const signal = AbortSignal.any([goneSignal(reply), context.closing, time.signal]);
  const answer = call(signal).catch((error: unknown) => {
    if (signal.aborted && error instanceof SluiceError && error.code === "ABORTED")
      return undefined;
    throw error;
  });
  const timer = context.clock.at(context.clock.now() + waitMs, () => time.abort());
  try {
    return await answer;
  } finally {
    timer.cancel();
  }
}

function endJson({ result, ...end }: JobEnd, encoding: Encoding): object {
  const shown = result === undefined ? {} : fromBytes("result", result, encoding);
  return { ended: true, ...end, ...shown };
}
