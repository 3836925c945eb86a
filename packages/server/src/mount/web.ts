/** A `Request` answered by a handler for `node:http`. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import type { Response as Answer } from "light-my-request";

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Of one connection, which here there is none of. */
const HOP_BY_HOP = ["connection", "keep-alive", "transfer-encoding"];

export async function answerWeb(request: Request, handle: Handle): Promise<Response> {
  const { signal } = request;
  const { inject } = await import("light-my-request");
  const answer = await inject(
    (raw, response) => {
      const end = (): void => {
        response.destroy();
        // Calls that wait for long are withdrawn when their connection is lost.
        response.socket?.destroy();
      };
      if (signal.aborted) return end();
      signal.addEventListener("abort", end, { once: true });
      response.once("close", () => signal.removeEventListener("abort", end));
      handle(raw, response);
    },
    {
      ...lineOf(request),
      headers: Object.fromEntries(request.headers),
      ...(request.body === null ? {} : { payload: Readable.fromWeb(request.body as never) }),
      payloadAsStream: true,
    },
  );
  return toWeb(answer);
}

function lineOf({ method, url }: Request) {
  const { pathname, search, host } = new URL(url);
  return { method, url: pathname + search, authority: host };
}

function toWeb({ statusCode, headers, stream, raw }: Answer): Response {
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (HOP_BY_HOP.includes(name)) continue;
    for (const one of Array.isArray(value) ? value : [value]) sent.append(name, String(one));
  }
  const body = stream();
  // A reader that cancels the body is one that has gone.
  body.once("close", () => raw.res.destroy());
  const isEmpty = statusCode === 204 || statusCode === 304;
  if (isEmpty) body.resume();
  const init = { status: statusCode, headers: sent };
  return new Response(isEmpty ? null : (Readable.toWeb(body) as ReadableStream as never), init);
}
