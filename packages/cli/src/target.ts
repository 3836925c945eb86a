/** The server that a command talks to. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { text } from "node:stream/consumers";
import { SluiceHandles } from "@sluice/client";
import { connectBroker } from "@sluice/client/remote";
import { connectProblem, dialWs } from "@sluice/client/ws";
import { type Broker, SluiceError, SystemClock } from "@sluice/protocol";
import { type Call, type Options, textOf } from "./command.ts";
import { type Context, type Contexts, contextOf, readContexts } from "./contexts.ts";
import { readPem } from "./read-pem.ts";

/** An import of `node:http` would load its WebSocket and `fetch` too: 30 ms of a start. */
const { request: httpRequest } = process.getBuiltinModule("node:http");

export const DEFAULT_URL = "http://127.0.0.1:7070";

/** How the audit log of a server knows that a person used the command line. */
const CLIENT = "sluice command";

export const TARGET: Options = {
  context: { type: "string" },
  url: { type: "string" },
  key: { type: "string" },
  ca: { type: "string" },
  cert: { type: "string" },
  "cert-key": { type: "string" },
};

export const TARGET_USAGE = [
  `  --url URL              the server (default SLUICE_URL, then ${DEFAULT_URL})`,
  "  --context NAME         a server of `sluice context` (default SLUICE_CONTEXT)",
  "  --key KEY              its API key (default the context's, then SLUICE_API_KEY)",
  "  --ca FILE              the authority of its certificate (default SLUICE_CA)",
  "  --cert, --cert-key FILE  the client's certificate (default SLUICE_CERT, SLUICE_CERT_KEY)",
].join("\n");

export interface Target {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly tls: Tls;
}

interface Tls {
  readonly ca?: Buffer | undefined;
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
}

/**
 * A server is chosen as a whole: the key in SLUICE_API_KEY belongs to SLUICE_URL and is not sent to
 * a context's server, and a context's key is sent to no other server.
 */
function targetOf(call: Call): Target {
  const context = contextFor(call);
  const url = context?.url ?? textOf(call, "url") ?? (call.env.SLUICE_URL || DEFAULT_URL);
  const otherKey = context === undefined ? call.env.SLUICE_API_KEY : context.key;
  return { url, apiKey: textOf(call, "key") ?? otherKey, tls: tlsOf(call, context) };
}

/** The context whose server the call is for; undefined if an address names the server. */
function contextFor(call: Call): Context | undefined {
  if (textOf(call, "url") === undefined) {
    const contexts = readContexts(call.env);
    const name = textOf(call, "context") ?? selectedContext(call.env, contexts);
    return name === undefined ? undefined : contextOf(contexts, name);
  }
  if (textOf(call, "context") === undefined) return undefined;
  throw invalid("context", "--url and --context both name a server: give one of them");
}

/** The name of the context that is used when a command names no server. */
export function selectedContext(env: Call["env"], { current }: Contexts): string | undefined {
  const { SLUICE_URL: url, SLUICE_CONTEXT: name } = env;
  if (url && name) {
    throw invalid("context", "SLUICE_URL and SLUICE_CONTEXT both name a server: unset one");
  }
  return url ? undefined : name || current;
}

function tlsOf(call: Call, context: Context | undefined): Tls {
  const pem = (name: string, variable: string, own: string | undefined): Buffer | undefined => {
    const other = context === undefined ? call.env[variable] || undefined : own;
    const path = textOf(call, name) ?? other;
    return path === undefined ? undefined : readPem(name, path);
  };
  const tls = {
    ca: pem("ca", "SLUICE_CA", context?.ca),
    cert: pem("cert", "SLUICE_CERT", context?.cert),
    key: pem("cert-key", "SLUICE_CERT_KEY", context?.certKey),
  };
  if ((tls.cert === undefined) === (tls.key === undefined)) return tls;
  const [given, missing] = tls.cert === undefined ? ["cert-key", "cert"] : ["cert", "cert-key"];
  throw invalid(missing, `--${given} needs --${missing}: give both files, or neither`);
}

function invalid(field: string, message: string): SluiceError {
  return new SluiceError("INVALID", message, { field });
}

export interface Connected {
  readonly sluice: SluiceHandles;
  readonly broker: Broker;
}

/** Talks to the server, and lets go of it however that ends. */
export async function connected<Answer>(
  call: Call,
  act: (connected: Connected) => Promise<Answer>,
): Promise<Answer> {
  const { url, apiKey, tls } = targetOf(call);
  const dial = dialWs(tls);
  const port = await connectBroker(url, { apiKey, client: CLIENT, dial });
  const sluice = new SluiceHandles({ port, clock: new SystemClock() });
  try {
    return await act({ sluice, broker: sluice.broker });
  } finally {
    await sluice.close();
  }
}

/** A call of the HTTP API, for the few things that are only there. */
export async function http<Answer>(call: Call, line: string, body?: unknown): Promise<Answer> {
  const { url, apiKey, tls } = targetOf(call);
  const [method, path] = line.split(" ") as [string, string];
  const address = new URL(path, url.replace(/^ws/, "http"));
  const headers = {
    "user-agent": CLIENT,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  };
  const ask = address.protocol === "https:" ? httpsRequest : httpRequest;
  // Not fetch: it has no option for an authority or a certificate.
  const asking = ask(address, { method, headers, agent: false, ...tls });
  asking.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(asking, "response").catch((error: Error) => {
    throw new SluiceError("DISCONNECTED", `${url} cannot be reached: ${connectProblem(error)}`);
  })) as [IncomingMessage];
  const answer = await text(response);
  const { statusCode = 0 } = response;
  if (statusCode >= 200 && statusCode < 300) {
    return (answer === "" ? undefined : JSON.parse(answer)) as Answer;
  }
  throw refusalOf(statusCode, answer);
}

function refusalOf(status: number, text: string): SluiceError {
  try {
    return SluiceError.fromJSON(JSON.parse(text).error);
  } catch {
    const message = `the server at this address is not Sluice (HTTP ${status})`;
    return new SluiceError("DISCONNECTED", message);
  }
}
