import type { IncomingMessage, ServerResponse } from "node:http";
import { SluiceError } from "@sluice/protocol";
import type { BodyBudget } from "./body-budget.ts";

type Done = (
  ...answer: [error: Error, bytes: undefined] | [error: undefined, bytes: Buffer]
) => void;

/**
 * Collects a request's body, within its own limit and the budget of all. What it takes of the
 * budget is given back when the request is answered, or its connection is lost. Most
 * requests are small adds, so there is no promise.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  bytesMax: number,
  budget: BodyBudget,
  done: Done,
): void {
  const early = request.readableEnded ? readEarlier(request) : undefined;
  const declared = early?.length ?? Number(request.headers["content-length"] ?? 0);
  if (declared > bytesMax) return done(tooLarge(bytesMax), undefined);
  if (early !== undefined) return done(undefined, early);
  let chunks: Buffer[] = [];
  let bytes = 0;
  let isRead = false;
  response.on("close", () => {
    budget.give(bytes);
    bytes = 0;
  });
  const stop = (error: Error): void => {
    if (isRead) return;
    isRead = true;
    request.off("data", receive);
    done(error, undefined);
  };
  const receive = (chunk: Buffer): void => {
    if (bytes + chunk.length > bytesMax) return stop(tooLarge(bytesMax));
    try {
      budget.take(chunk.length, bytes);
    } catch (error) {
      return stop(error as Error);
    }
    bytes += chunk.length;
    chunks.push(chunk);
  };
  request.on("data", receive);
  request.on("end", () => {
    if (isRead) return;
    isRead = true;
    const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    // The request may wait for long: it must not hold its body twice.
    chunks = [];
    done(undefined, body);
  });
  // Every request closes: an error is made for those alone that were not read.
  const lost = (): void => {
    if (!isRead) stop(new SluiceError("ABORTED", "the connection was lost"));
  };
  request.on("error", lost);
  request.on("close", lost);
}

/** A page that is mounted may be behind a parser of bodies, which has left its value. */
function readEarlier({ body }: IncomingMessage & { body?: unknown }): Buffer {
  if (body instanceof Uint8Array) return Buffer.from(body);
  if (typeof body === "string") return Buffer.from(body);
  return Buffer.from(body === undefined ? "" : JSON.stringify(body));
}

function tooLarge(bytesMax: number): SluiceError {
  const message = `the body is larger than the ${bytesMax} bytes that this route takes`;
  return new SluiceError("PAYLOAD_TOO_LARGE", message, { bytesMax });
}
