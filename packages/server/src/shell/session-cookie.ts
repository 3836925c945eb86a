import type { IncomingMessage } from "node:http";

/** Browsers send a cookie to every port of a host, so its name says whose it is. */
export function cookieName({ socket }: IncomingMessage): string {
  return `sluice_key_${socket.localPort}`;
}

/** The key that a browser has logged in with; undefined: none. */
export function keyOfCookie(request: IncomingMessage): string | undefined {
  const name = cookieName(request);
  for (const part of (request.headers.cookie ?? "").split(";")) {
    const [found, value = ""] = part.trim().split("=");
    if (found === name && value !== "") return decode(value);
  }
  return undefined;
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}
