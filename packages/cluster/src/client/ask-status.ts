/** Asks a node how the cluster is, or waits there for a change. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { text } from "node:stream/consumers";
import type { ClientTls } from "@sluice/client/ws";
import { type ClusterStatus, SluiceError } from "@sluice/protocol";

/** An import of `node:http` would load its WebSocket and `fetch` too: 30 ms of a start. */
const { request: httpRequest } = process.getBuiltinModule("node:http");

export interface StatusQuestion {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly tls: ClientTls;
  /** Answered when the node knows of another version, or after `wait`. */
  readonly after?: string | undefined;
  readonly wait?: number | undefined;
  readonly signal: AbortSignal;
}

export async function askStatus(question: StatusQuestion): Promise<ClusterStatus> {
  const { url, apiKey, tls, signal, after, wait = 0 } = question;
  const address = new URL("/v1/cluster", url.replace(/^ws/, "http"));
  if (after !== undefined) {
    address.searchParams.set("after", after);
    address.searchParams.set("wait", String(wait));
  }
  const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const ask = address.protocol === "https:" ? httpsRequest : httpRequest;
  try {
    // Not fetch: it has no option for an authority or a certificate.
    const asking = ask(address, { headers, agent: false, signal, ...(tls as object) });
    asking.end();
    const [response] = (await once(asking, "response", { signal })) as [IncomingMessage];
    return answerOf(response.statusCode ?? 0, await text(response));
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    const message = `${url} cannot be reached: ${(error as Error).message}`;
    throw new SluiceError("DISCONNECTED", message, { url });
  }
}

function answerOf(status: number, body: string): ClusterStatus {
  try {
    const answer = JSON.parse(body);
    if (status === 200) return answer;
    throw SluiceError.fromJSON(answer.error);
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    const message = `the server at this address is not Sluice (HTTP ${status})`;
    throw new SluiceError("DISCONNECTED", message);
  }
}
