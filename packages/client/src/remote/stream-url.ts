import { invalid } from "@sluice/protocol";

const PATH = "/v1/stream";

const PROTOCOLS: Readonly<Record<string, string>> = {
  "http:": "ws:",
  "https:": "wss:",
  "ws:": "ws:",
  "wss:": "wss:",
};

/** The address of the stream of the server at `url`. */
export function streamUrl(url: unknown): string {
  const wanted = 'the address of a server, such as "http://localhost:7070"';
  if (typeof url !== "string" || !URL.canParse(url)) throw invalid("connect.url", wanted, url);
  const parsed = new URL(url);
  const protocol = PROTOCOLS[parsed.protocol];
  if (protocol === undefined) throw invalid("connect.url", wanted, url);
  if (parsed.username !== "" || parsed.password !== "") {
    throw invalid("connect.url", "without a user name: the key goes into apiKey", parsed.origin);
  }
  const base = parsed.pathname.replace(/\/$/, "");
  const path = base.endsWith(PATH) ? base : `${base}${PATH}`;
  return `${protocol}//${parsed.host}${path}`;
}
