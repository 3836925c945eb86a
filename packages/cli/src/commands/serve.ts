import { type Broker, needs } from "@sluice/protocol";
import type { OutboxRelay } from "sluice/postgres";
import { type Call, type Command, EXIT, wordsOf } from "../command.ts";
import type { Demo } from "../demo/demo.ts";
import type { Served } from "../serve/server.ts";
import { SERVE_OPTIONS, SERVE_USAGE, serveSettings } from "../serve/settings.ts";
import { DEFAULT_URL } from "../target.ts";

export const serveCommand: Command = {
  name: "serve",
  usage: `sluice serve             a broker on http://127.0.0.1:7070 with its data in ./data

${SERVE_USAGE}
  --demo                 add demo data: five queues with a noisy tenant, failures, a schedule and flows`,
  options: { ...SERVE_OPTIONS, demo: { type: "boolean" } },
  run: async (call) => {
    wordsOf(call.words);
    const settings = await serveSettings(call);
    const { startServer } = await needs("sluice serve", ["@sluice/server"], loadServer);
    const { postgres } = settings;
    if (settings.cluster === undefined) return run(call, await startServer(settings), postgres);
    const cluster = () => import("../serve/cluster.ts");
    const { startNode } = await needs("sluice serve --cluster", ["@sluice/server"], cluster);
    const say = (remark: string): void => void call.output.progress.write(remark);
    return run(call, await startNode(settings, { stop: call.stop, say }), postgres);
  },
};

async function loadServer() {
  const { setServerFlags } = await import("@sluice/server/v8-flags");
  setServerFlags();
  return import("../serve/server.ts");
}

const CONFIRMS_NOTHING = "nothing more is confirmed, so the server stops";

async function run(call: Call, served: Served, postgres: string | undefined): Promise<number> {
  const { out, progress } = call.output;
  const stopped = new Promise<undefined>((resolve) => {
    call.stop.addEventListener("abort", () => resolve(undefined), { once: true });
    if (call.stop.aborted) resolve(undefined);
  });
  let demo: Demo | undefined;
  let relay: OutboxRelay | undefined;
  try {
    const broker = await Promise.race([served.broker, stopped]);
    if (broker === undefined) return EXIT.well;
    const { address, dir, durability } = served;
    const key = (await Promise.race([served.firstKey, stopped]))?.key;
    if (call.stop.aborted) return EXIT.well;
    const shown = JSON.stringify({ address, dir, key, durability });
    out(call.isJson ? shown : greet(served, key, call.env));
    demo = call.values.demo === true ? await startDemo(broker) : undefined;
    if (demo !== undefined && !call.isJson) out(`\n${demo.text}`);
    relay = postgres === undefined ? undefined : await startRelay(call, broker, postgres);
    const error = await Promise.race([stopped, served.failed]);
    if (error === undefined) return EXIT.well;
    // Of a thread the log knows nothing: what was taken is confirmed.
    const rest = error.code === "CLOSED" ? "the server stops" : CONFIRMS_NOTHING;
    progress.write(`${error.message}: ${rest}\n`);
    return EXIT.wrong;
  } finally {
    await relay?.close();
    await demo?.[Symbol.asyncDispose]();
    await served.close();
  }
}

/** Loaded when it is asked for: a server that works needs none of it. */
async function startDemo(broker: Broker): Promise<Demo> {
  const { feed } = await import("../demo/demo.ts");
  return feed(broker);
}

/** Moves the outbox of a database to this broker, as long as the server runs. */
async function startRelay(call: Call, broker: Broker, url: string): Promise<OutboxRelay> {
  const load = async () => {
    await import("pg");
    return import("sluice/postgres");
  };
  const { OutboxRelay } = await needs("sluice serve --postgres", ["pg"], load);
  const onTrouble = (reason: string): void => void call.output.progress.write(`${reason}\n`);
  return new OutboxRelay({ url, broker, onTrouble });
}

function greet(
  { address, dir, durability }: Served,
  key: string | undefined,
  env: Call["env"],
): string {
  // A process started by npm finds the command by npx.
  const sluice = env.npm_command === undefined ? "sluice" : "npx sluice";
  const shown = key === undefined ? "" : `\n\nThe first API key, printed this once: ${key}`;
  const settings = settingsFor(address, key, env);
  return `Sluice is up.

  dashboard  ${address}/
  API        ${address}/v1   (described at ${address}/openapi.json)
  stream     ${address.replace(/^http/, "ws")}/v1/stream
  metrics    ${address}/metrics
  data       ${dir}${durability === undefined ? "" : `\n\n${durability}`}

The first job:

${settings}  ${sluice} add mail '{"to":"a@b.c"}' --fairness-key acme --create
  ${sluice} consume mail --count 1
  ${sluice} top${shown}`;
}

/** What commands in another terminal need to find this server. */
function settingsFor(address: string, key: string | undefined, env: Call["env"]): string {
  const lines: string[] = [];
  if (address !== DEFAULT_URL && address !== env.SLUICE_URL) lines.push(`SLUICE_URL=${address}`);
  if (key !== undefined) lines.push(`SLUICE_API_KEY=${key}`);
  return lines.map((line) => `  export ${line}\n`).join("");
}
