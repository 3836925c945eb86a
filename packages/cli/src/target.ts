/** The server that a command talks to. */
import type { Broker } from "@sluice/protocol";
import { Sluice, SluiceError } from "sluice";
import { type Call, type Options, textOf } from "./command.ts";

const DEFAULT_URL = "http://127.0.0.1:7070";

export const TARGET: Options = {
  url: { type: "string" },
  key: { type: "string" },
};

export const TARGET_USAGE = [
  `  --url URL              the server, else SLUICE_URL, else ${DEFAULT_URL}`,
  "  --key KEY              its API key, else SLUICE_API_KEY",
].join("\n");

export interface Target {
  readonly url: string;
  readonly apiKey: string | undefined;
}

function targetOf(call: Call): Target {
  const url = textOf(call, "url") ?? call.env.SLUICE_URL ?? DEFAULT_URL;
  return { url, apiKey: textOf(call, "key") ?? call.env.SLUICE_API_KEY };
}

export interface Connected {
  readonly sluice: Sluice;
  readonly broker: Broker;
}

/** Talks to the server, and lets go of it however that ends. */
export async function connected<Answer>(
  call: Call,
  act: (connected: Connected) => Promise<Answer>,
): Promise<Answer> {
  const { url, apiKey } = targetOf(call);
  const sluice = await Sluice.connect(url, { apiKey, client: "sluice command" });
  try {
    return await act({ sluice, broker: sluice.broker });
  } finally {
    await sluice.close();
  }
}

/** A call of the HTTP API, for the few things that are only there. */
export async function http<Answer>(call: Call, line: string, body?: unknown): Promise<Answer> {
  const { url, apiKey } = targetOf(call);
  const [method, path] = line.split(" ") as [string, string];
  const response = await fetch(new URL(path, url.replace(/^ws/, "http")), {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: Error) => {
    throw new SluiceError("DISCONNECTED", `${url} cannot be reached: ${causeOf(error)}`);
  });
  const text = await response.text();
  if (response.ok) return (text === "" ? undefined : JSON.parse(text)) as Answer;
  throw refusalOf(response.status, text);
}

function refusalOf(status: number, text: string): SluiceError {
  try {
    return SluiceError.fromJSON(JSON.parse(text).error);
  } catch {
    return new SluiceError("DISCONNECTED", `what answers there is no Sluice server: ${status}`);
  }
}

function causeOf(error: Error): string {
  const { cause } = error;
  return cause instanceof Error ? cause.message : error.message;
}
