/** A response and its bytes. */
export interface HttpResponse {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
}

const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
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
  return { status, type: "text/plain; charset=utf-8", body: Buffer.from(`${text}\n`) };
}

export function jsonResponse(value: unknown): HttpResponse {
  const body = Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);
  return { status: 200, type: "application/json", body };
}

/** Clients read nothing of a failure that does not come with 200. */
export function bencodedResponse(body: Buffer): HttpResponse {
  return { status: 200, type: "text/plain", body };
}

/** One piece: head and body together are one write, and mostly one packet. */
export function responseBytes({ status, type, body }: HttpResponse, isKeptAlive: boolean): Buffer {
  const head =
    `HTTP/1.1 ${status} ${REASONS[status] ?? "OK"}\r\nContent-Type: ${type}\r\n` +
    `Content-Length: ${body.length}\r\nConnection: ${isKeptAlive ? "keep-alive" : "close"}\r\n\r\n`;
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 0, "latin1");
  body.copy(bytes, head.length);
  return bytes;
}
