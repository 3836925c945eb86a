/**
 * Reads the head of a request. Trackers get nothing but small GETs, so this is all of HTTP that
 * they need: a request line and headers in a bounded buffer, no bodies, no upgrades.
 */
export interface Head {
  readonly path: string;
  readonly query: string;
  readonly isKeptAlive: boolean;
  /** The raw headers, for the few that are ever asked for. */
  readonly raw: string;
  /** Where the next request begins. */
  readonly end: number;
}

export interface BadHead {
  readonly status: number;
  readonly message: string;
}

const END = "\r\n\r\n";

/** Undefined when the head is not there as a whole yet. */
export function readHead(text: string, from: number): Head | BadHead | undefined {
  const end = text.indexOf(END, from);
  if (end === -1) return undefined;
  const lineEnd = text.indexOf("\r\n", from);
  const line = text.slice(from, lineEnd);
  if (!line.startsWith("GET ")) return { status: 405, message: "only GET is answered here" };
  const space = line.indexOf(" ", 4);
  const version = line.slice(space + 1);
  if (space === -1 || (version !== "HTTP/1.1" && version !== "HTTP/1.0")) {
    return { status: 400, message: "not a request of HTTP/1" };
  }
  const target = originForm(line.slice(4, space));
  if (target === undefined) return { status: 400, message: "the target must be a path" };
  const raw = text.slice(lineEnd, end + 2);
  if (hasBody(raw)) return { status: 413, message: "a request must have no body" };
  const mark = target.indexOf("?");
  return {
    path: mark === -1 ? target : target.slice(0, mark),
    query: mark === -1 ? "" : target.slice(mark + 1),
    isKeptAlive: isKeptAlive(raw, version),
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

function isKeptAlive(raw: string, version: string): boolean {
  const connection = headerOf(raw, "connection")?.toLowerCase();
  if (version === "HTTP/1.0") return connection === "keep-alive";
  return connection === undefined || !connection.includes("close");
}

function hasBody(raw: string): boolean {
  const length = headerOf(raw, "content-length");
  return (
    (length !== undefined && length !== "0") || headerOf(raw, "transfer-encoding") !== undefined
  );
}

/** The value of the first header of that name (in lower case), without the spaces around it. */
export function headerOf(raw: string, name: string): string | undefined {
  let at = 0;
  for (;;) {
    const start = at + 2;
    const end = raw.indexOf("\r\n", start);
    if (end === -1) return undefined;
    if (raw.charCodeAt(start + name.length) === 0x3a && isName(raw, start, name)) {
      return raw.slice(start + name.length + 1, end).trim();
    }
    at = end;
  }
}

/** Letters differ from their capitals by one bit. */
function isName(raw: string, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    if ((raw.charCodeAt(start + i) | 0x20) !== (name.charCodeAt(i) | 0x20)) return false;
  }
  return true;
}
