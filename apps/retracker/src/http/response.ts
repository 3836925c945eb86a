/**
 * A response and its bytes, one per character: a socket writes such a string faster than it writes
 * a Buffer that had to be made for it.
 */
export interface HttpResponse {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  204: "No Content",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  413: "Content Too Large",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

export function textResponse(status: number, text: string): HttpResponse {
  return { status, type: "text/plain; charset=utf-8", body: bytesOf(`${text}\n`) };
}

export function jsonResponse(value: unknown): HttpResponse {
  const body = bytesOf(`${JSON.stringify(value, undefined, 2)}\n`);
  return { status: 200, type: "application/json", body };
}

/** Clients read the text of a failure only if the status is 200. */
export function bencodedResponse(body: string): HttpResponse {
  return { status: 200, type: "text/plain", body };
}

export function bytesOf(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** The head of every answer to an announce: few pieces are joined faster than many. */
const USUAL_TYPE = "text/plain";
const USUAL_KEPT = headOf(200, USUAL_TYPE, true);
const USUAL_LAST = headOf(200, USUAL_TYPE, false);

function headOf(status: number, type: string, isKeptAlive: boolean): string {
  return (
    `HTTP/1.1 ${status} ${REASONS[status] ?? "OK"}\r\nContent-Type: ${type}\r\n` +
    `Connection: ${isKeptAlive ? "keep-alive" : "close"}\r\nContent-Length: `
  );
}

/** One piece: head and body together are one write, and mostly one packet. */
export function responseBytes(
  { status, type, body }: HttpResponse,
  isKeptAlive: boolean,
  isHead = false,
): string {
  const isUsual = status === 200 && type === USUAL_TYPE;
  const usual = isKeptAlive ? USUAL_KEPT : USUAL_LAST;
  const head = isUsual ? usual : headOf(status, type, isKeptAlive);
  return `${head}${body.length}\r\n\r\n${isHead ? "" : body}`;
}
