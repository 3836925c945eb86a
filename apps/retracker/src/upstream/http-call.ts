/**
 * One bounded GET to a forwarder: a limit on its time, on its answer and on where redirects may
 * lead. Besides what `callOutside` does it goes through the forwarder's proxy, shows TLS the name
 * of its Host header, never reaches ourselves, and follows redirects to any port: trackers have
 * odd ones.
 */
import http from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import tls from "node:tls";
import { REDIRECTS_MAX } from "../limits.ts";
import { addressesOf, checkedLookup, type LookupRules } from "./lookup.ts";
import { AnswerError } from "./outcome.ts";
import { connectBySocks } from "./socks.ts";

export interface HttpCall {
  /** The address as text: a query of raw bytes must not be changed on its way. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly proxy: string | undefined;
  readonly bytesMax: number;
  readonly ownPorts: ReadonlySet<number>;
  /** The address itself came from outside. */
  readonly isPublicOnly: boolean;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

export async function call(options: HttpCall): Promise<HttpAnswer> {
  let { url, isPublicOnly } = options;
  for (let redirects = 0; ; redirects++) {
    const answer = await once({ ...options, url, isPublicOnly });
    const { location } = answer.headers;
    if (answer.status < 300 || answer.status > 399 || location === undefined) return answer;
    if (redirects === REDIRECTS_MAX) throw new AnswerError(`more than ${REDIRECTS_MAX} redirects`);
    url = targetOf(location, url);
    isPublicOnly = true;
  }
}

function targetOf(location: string, from: string): string {
  if (!URL.canParse(location, from)) throw new AnswerError("a redirect without a valid address");
  const target = new URL(location, from);
  const isHttp = target.protocol === "http:" || target.protocol === "https:";
  if (isHttp && target.username === "" && target.password === "") return target.href;
  throw new AnswerError(`a redirect to ${target.protocol}//${target.hostname}`);
}

async function once(call: HttpCall): Promise<HttpAnswer> {
  const url = new URL(call.url);
  const isTls = url.protocol === "https:";
  const port = Number(url.port) || (isTls ? 443 : 80);
  const rules = { port, ownPorts: call.ownPorts, isPublicOnly: call.isPublicOnly };
  // Sockets do not look up what is an address already, so it is checked here.
  if (isIP(url.hostname.replace(/^\[|\]$/g, "")) > 0) await addressesOf(url.hostname, rules);
  const options = await requestOptions(call, url, port, rules);
  const request = (isTls ? https : http).request(options);
  return new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      collect(response, call.bytesMax).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      );
    });
    request.end();
  });
}

/** A forwarder's request goes as it was written: `URL` would escape bytes again. */
function pathOf(url: string): string {
  const path = url.replace(/^[a-z]+:\/\/[^/?]*/i, "");
  return path.startsWith("/") ? path : `/${path}`;
}

async function requestOptions(
  call: HttpCall,
  url: URL,
  port: number,
  rules: LookupRules,
): Promise<https.RequestOptions> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const named = call.headers.host?.replace(/:\d+$/, "");
  const servername = named ?? host;
  const options: https.RequestOptions = {
    host,
    port,
    path: pathOf(call.url),
    headers: call.headers,
    agent: false,
    lookup: checkedLookup(rules),
    signal: call.signal,
    ...(isIP(servername) > 0 ? {} : { servername }),
  };
  if (call.proxy === undefined) return options;
  const proxy = new URL(call.proxy);
  // An agent would make a connection of its own and pass the proxy by.
  const { agent: _agent, ...direct } = options;
  if (proxy.protocol === "socks5:") {
    const socket = await connectBySocks(proxy, host, port, call.signal);
    const isTls = url.protocol === "https:";
    const createConnection = () => (isTls ? tls.connect({ socket, servername }) : socket);
    return { ...direct, createConnection } as https.RequestOptions;
  }
  const proxyPort = Number(proxy.port) || 80;
  if (url.protocol === "https:") {
    const socket = await tunnel(proxy, `${host}:${port}`, call.signal);
    const createConnection = (): tls.TLSSocket => tls.connect({ socket, servername });
    return { ...direct, createConnection } as https.RequestOptions;
  }
  const headers = { host: url.host, ...call.headers, ...loginAt(proxy) };
  const { lookup: _lookup, ...rest } = options;
  return { ...rest, headers, host: proxy.hostname, port: proxyPort, path: call.url };
}

/** The user and the password in the proxy's address, as a header for it alone. */
function loginAt({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {};
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(login).toString("base64")}` };
}

function tunnel(
  proxy: URL,
  target: string,
  signal: AbortSignal,
): Promise<import("node:net").Socket> {
  return new Promise((resolve, reject) => {
    const request = http.request({
      host: proxy.hostname,
      port: Number(proxy.port) || 80,
      method: "CONNECT",
      path: target,
      headers: loginAt(proxy),
      signal,
    });
    request.on("connect", (response, socket) => {
      if (response.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(new AnswerError(`the proxy answered ${response.statusCode}`));
    });
    request.on("error", reject);
    request.end();
  });
}

async function collect(response: http.IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new AnswerError(`an answer of more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
