/**
 * Reads the head of a request. Trackers get nothing but small GETs, so this is all of HTTP that
 * they need: a request line and headers in a bounded buffer, no bodies, no upgrades.
 */
export interface Head {
  readonly path: string;
  readonly query: string;
  readonly isKeptAlive: boolean;
  /** The client requests the answer of GET without its body. */
  readonly isHead: boolean;
  /** The client requests an upgrade to WebSocket. */
  readonly isUpgrade: boolean;
  /** The value of `MARK_HEADER`. */
  readonly mark: string | undefined;
  /** The raw headers, for the few others that are ever asked for. */
  readonly raw: string;
  /** Where the next request begins. */
  readonly end: number;
}

export interface BadHead {
  readonly status: number;
  readonly message: string;
}

/** Our requests carry it, so that we recognise them if they return to us. */
export const MARK_HEADER = "x-retracker-instance";

const END = "\r\n\r\n";

/** Undefined when the head is not there as a whole yet. */
export function readHead(text: string, from: number): Head | BadHead | undefined {
  const end = text.indexOf(END, from);
  if (end === -1) return undefined;
  const lineEnd = text.indexOf("\r\n", from);
  const isHead = text.startsWith("HEAD ", from);
  if (!isHead && !text.startsWith("GET ", from)) {
    return { status: 405, message: "only GET and HEAD are answered here" };
  }
  const start = from + (isHead ? 5 : 4);
  const space = text.indexOf(" ", start);
  const version = space === -1 || space > lineEnd ? "" : text.slice(space + 1, lineEnd);
  if (version !== "HTTP/1.1" && version !== "HTTP/1.0") {
    return { status: 400, message: "not a request of HTTP/1" };
  }
  const target = originForm(text.slice(start, space));
  if (target === undefined) return { status: 400, message: "the target must be a path" };
  const raw = text.slice(lineEnd, end + 2);
  const headers = readHeaders(raw);
  if (headers.hasBody) return { status: 413, message: "a request must have no body" };
  const mark = target.indexOf("?");
  return {
    path: mark === -1 ? target : target.slice(0, mark),
    query: mark === -1 ? "" : target.slice(mark + 1),
    isHead,
    isKeptAlive: isKeptAlive(headers.connection, version),
    isUpgrade: headers.upgrade?.toLowerCase() === "websocket",
    mark: headers.mark,
    raw,
    end: end + END.length,
  };
}

/** Some clients send the whole address, as to a proxy. */
function originForm(target: string): string | undefined {
  if (target.startsWith("/")) return target;
  const match = /^https?:\/\/[^/?]*(.*)$/i.exec(target);
  if (match === null) return undefined;
  return match[1]!.startsWith("/") ? match[1] : `/${match[1]}`;
}

function isKeptAlive(connection: string | undefined, version: string): boolean {
  if (version === "HTTP/1.0") return connection?.toLowerCase() === "keep-alive";
  return connection === undefined || !connection.toLowerCase().includes("close");
}

interface Headers {
  connection: string | undefined;
  mark: string | undefined;
  upgrade: string | undefined;
  hasBody: boolean;
}

const LETTER_C = 0x63;
const LETTER_T = 0x74;
const LETTER_U = 0x75;
const LETTER_X = 0x78;

/** All that every request is asked for, in one pass: most lines are known by their first letter. */
function readHeaders(raw: string): Headers {
  const headers: Headers = {
    connection: undefined,
    mark: undefined,
    upgrade: undefined,
    hasBody: false,
  };
  let start = 2;
  for (;;) {
    const end = raw.indexOf("\r\n", start);
    if (end === -1) return headers;
    const letter = raw.charCodeAt(start) | 0x20;
    if (letter === LETTER_C) {
      headers.connection ??= fieldAt(raw, start, end, "connection");
      const length = fieldAt(raw, start, end, "content-length");
      headers.hasBody ||= length !== undefined && length !== "0";
    } else if (letter === LETTER_T) {
      headers.hasBody ||= fieldAt(raw, start, end, "transfer-encoding") !== undefined;
    } else if (letter === LETTER_U) {
      headers.upgrade ??= fieldAt(raw, start, end, "upgrade");
    } else if (letter === LETTER_X) {
      headers.mark ??= fieldAt(raw, start, end, MARK_HEADER);
    }
    start = end + 2;
  }
}

/** All headers by their names in lower case; the first of several holds. */
export function headersOf(raw: string): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (const line of raw.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] ??= line.slice(colon + 1).trim();
  }
  return headers;
}

/**
 * The value of the last header of that name (in lower case), without the spaces around it: some
 * proxies add a line of their own behind the client's.
 */
export function headerOf(raw: string, name: string): string | undefined {
  let last: string | undefined;
  let start = 2;
  for (;;) {
    const end = raw.indexOf("\r\n", start);
    if (end === -1) return last;
    last = fieldAt(raw, start, end, name) ?? last;
    start = end + 2;
  }
}

function fieldAt(raw: string, start: number, end: number, name: string): string | undefined {
  if (raw.charCodeAt(start + name.length) !== 0x3a || !isName(raw, start, name)) return undefined;
  return raw.slice(start + name.length + 1, end).trim();
}

/** Letters differ from their capitals by one bit. */
function isName(raw: string, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    if ((raw.charCodeAt(start + i) | 0x20) !== (name.charCodeAt(i) | 0x20)) return false;
  }
  return true;
}
