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

/** Clients read nothing of a failure that does not come with 200. */
export function bencodedResponse(body: string): HttpResponse {
  return { status: 200, type: "text/plain", body };
}

export function bytesOf(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** One piece: head and body together are one write, and mostly one packet. */
export function responseBytes(
  { status, type, body }: HttpResponse,
  isKeptAlive: boolean,
  isHead = false,
): string {
  return (
    `HTTP/1.1 ${status} ${REASONS[status] ?? "OK"}\r\nContent-Type: ${type}\r\n` +
    `Content-Length: ${body.length}\r\n` +
    `Connection: ${isKeptAlive ? "keep-alive" : "close"}\r\n\r\n` +
    (isHead ? "" : body)
  );
}
