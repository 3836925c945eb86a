import { needs } from "@sluice/protocol";
import { type Call, type Command, EXIT, wordsOf } from "../command.ts";
import { NATS_PACKAGES } from "../nats-address.ts";
import { type Demo, feed } from "../serve/demo.ts";
import type { Served } from "../serve/server.ts";
import { SERVE_OPTIONS, SERVE_USAGE, serveSettings } from "../serve/settings.ts";
import { DEFAULT_URL } from "../target.ts";

export const serveCommand: Command = {
  name: "serve",
  usage: `sluice serve             a broker on http://127.0.0.1:7070 with its data in ./data

${SERVE_USAGE}
  --demo                 feed it: a noisy tenant, a quiet one, two throttled providers`,
  options: { ...SERVE_OPTIONS, demo: { type: "boolean" } },
  run: async (call) => {
    wordsOf(call.words);
    const settings = serveSettings(call);
    const server = () => import("../serve/server.ts");
    const { startServer } = await needs("sluice serve", ["@sluice/server"], server);
    if (settings.cluster === undefined) return run(call, await startServer(settings));
    const cluster = () => import("../serve/cluster.ts");
    const { startNode } = await needs("sluice serve --cluster", NATS_PACKAGES, cluster);
    const say = (remark: string): void => void call.output.progress.write(remark);
    return run(call, await startNode(settings, { stop: call.stop, say }));
  },
};

async function run(call: Call, served: Served): Promise<number> {
  const { out, progress } = call.output;
  const stopped = new Promise<undefined>((resolve) => {
    call.stop.addEventListener("abort", () => resolve(undefined), { once: true });
    if (call.stop.aborted) resolve(undefined);
  });
  let demo: Demo | undefined;
  try {
    const broker = await Promise.race([served.broker, stopped]);
    if (broker === undefined) return EXIT.well;
    const { address, dir, durability } = served;
    const key = (await Promise.race([served.firstKey, stopped]))?.key;
    if (call.stop.aborted) return EXIT.well;
    const shown = JSON.stringify({ address, dir, key, durability });
    out(call.isJson ? shown : greet(served, key, call.env));
    demo = call.values.demo === true ? await feed(broker) : undefined;
    if (demo !== undefined && !call.isJson) out(`\n${demo.text}`);
    const error = await Promise.race([stopped, served.failed]);
    if (error === undefined) return EXIT.well;
    progress.write(`${error.message}: nothing more is confirmed, so the server stops\n`);
    return EXIT.wrong;
  } finally {
    await demo?.[Symbol.asyncDispose]();
    await served.close();
  }
}

function greet(
  { address, dir, durability }: Served,
  key: string | undefined,
  env: Call["env"],
): string {
  // A process started by npm finds the command by npx.
  const sluice = env.npm_command === undefined ? "sluice" : "npx sluice";
  const shown = key === undefined ? "" : `\n\nThe first API key, shown this once: ${key}`;
  const settings = settingsFor(address, key, env);
  return `Sluice is up.

  dashboard  ${address}/
  API        ${address}/v1   (described at ${address}/openapi.json)
  stream     ${address.replace(/^http/, "ws")}/v1/stream
  metrics    ${address}/metrics
  data       ${dir}${durability === undefined ? "" : `\n\n${durability}`}

The first job:

${settings}  ${sluice} add mail '{"to":"a@b.c"}' --lane acme --create
  ${sluice} consume mail --count 1
  ${sluice} top${shown}`;
}

/** What commands in another terminal must be told to find this server. */
function settingsFor(address: string, key: string | undefined, env: Call["env"]): string {
  const lines: string[] = [];
  if (address !== DEFAULT_URL && address !== env.SLUICE_URL) lines.push(`SLUICE_URL=${address}`);
  if (key !== undefined) lines.push(`SLUICE_API_KEY=${key}`);
  return lines.map((line) => `  export ${line}\n`).join("");
}
