/** The server that a command talks to. */
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { text } from "node:stream/consumers";
import { SluiceHandles } from "@sluice/client";
import { connectBroker } from "@sluice/client/remote";
import { connectProblem, dialWs } from "@sluice/client/ws";
import { type Broker, SluiceError, SystemClock } from "@sluice/protocol";
import { type Call, type Options, textOf } from "./command.ts";
import { readPem } from "./read-pem.ts";

export const DEFAULT_URL = "http://127.0.0.1:7070";

export const TARGET: Options = {
  url: { type: "string" },
  key: { type: "string" },
  ca: { type: "string" },
  cert: { type: "string" },
  "cert-key": { type: "string" },
};

export const TARGET_USAGE = [
  `  --url URL              the server, else SLUICE_URL, else ${DEFAULT_URL}`,
  "  --key KEY              its API key, else SLUICE_API_KEY",
  "  --ca FILE              who has signed its certificate, else SLUICE_CA",
  "  --cert, --cert-key FILE  what to show when it asks, else SLUICE_CERT, SLUICE_CERT_KEY",
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

function targetOf(call: Call): Target {
  const url = textOf(call, "url") ?? call.env.SLUICE_URL ?? DEFAULT_URL;
  return { url, apiKey: textOf(call, "key") ?? call.env.SLUICE_API_KEY, tls: tlsOf(call) };
}

function tlsOf(call: Call): Tls {
  const tls = {
    ca: pemOf(call, "ca", "SLUICE_CA"),
    cert: pemOf(call, "cert", "SLUICE_CERT"),
    key: pemOf(call, "cert-key", "SLUICE_CERT_KEY"),
  };
  if ((tls.cert === undefined) === (tls.key === undefined)) return tls;
  const [given, missing] = tls.cert === undefined ? ["cert-key", "cert"] : ["cert", "cert-key"];
  const message = `--${given} needs --${missing}: give both files, or neither`;
  throw new SluiceError("INVALID", message, { field: missing });
}

function pemOf(call: Call, name: string, variable: string): Buffer | undefined {
  const path = textOf(call, name) ?? (call.env[variable] || undefined);
  return path === undefined ? undefined : readPem(name, path);
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
  const port = await connectBroker(url, { apiKey, client: "sluice command", dial });
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
