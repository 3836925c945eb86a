// An open load of submissions: it does not slow down when the server does.

import { KeepAliveClient } from "../keep-alive-client.ts";
import { PREFERRED } from "./server.ts";

export const RATE = 10_000;
export const SUBMITTERS = 200;
const CONNECTIONS = 50;
const TICK_MS = 5;
const PROBE_EVERY_MS = 20;

export interface Load {
  readonly seconds: number;
  // From when a submission was due, not from when it was sent.
  readonly answerMs: readonly number[];
  // How long after that it was sent: what of the answer's time is the sender's own.
  readonly lateMs: readonly number[];
  readonly healthMs: readonly number[];
  readonly refused: number;
}

export async function load(address: string, seconds: number, rate = RATE): Promise<Load> {
  const answerMs: number[] = [];
  const lateMs: number[] = [];
  const healthMs: number[] = [];
  let refused = 0;
  const connections: KeepAliveClient[] = [];
  for (let i = 0; i < CONNECTIONS; i++) {
    const connection = await KeepAliveClient.open(address, ({ status, ms }) => {
      answerMs.push(ms);
      if (status !== 201) refused += 1;
    });
    connections.push(connection);
  }
  const probe = await KeepAliveClient.open(address, ({ ms }) => void healthMs.push(ms));
  const probing = setInterval(() => probe.get("/healthz"), PROBE_EVERY_MS);
  const offered = rate * seconds;
  const from = performance.now();
  for (let sent = 0; sent < offered; ) {
    const due = Math.min(offered, Math.floor(((performance.now() - from) * rate) / 1000));
    for (; sent < due; sent++) {
      const dueAt = from + (sent * 1000) / rate;
      lateMs.push(performance.now() - dueAt);
      submit(connections[sent % CONNECTIONS]!, sent % SUBMITTERS, dueAt);
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  clearInterval(probing);
  while (answerMs.length < offered) {
    if (connections.some(({ isOver }) => isOver)) throw new Error("the server hung up");
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  const tookSeconds = (performance.now() - from) / 1000;
  for (const connection of [...connections, probe]) connection.close();
  return { seconds: tookSeconds, answerMs, lateMs, healthMs, refused };
}

function submit(connection: KeepAliveClient, submitter: number, dueAt: number): void {
  const group = submitter < PREFERRED ? "preferred" : "other";
  const args = { group, dueAt: performance.timeOrigin + dueAt };
  const job = { type: "stamp", worker_id: `worker-${submitter}`, arguments: args };
  connection.post("/job/add", JSON.stringify(job), dueAt);
}
