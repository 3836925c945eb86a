/** `sluice jobserver`: reads the environment, starts, prints its address, and stops on a signal. */
import { once } from "node:events";
import { parseArgs } from "node:util";
import { SluiceError } from "sluice";
import { type Config, readConfig } from "./config.ts";
import { BadVariable, type Environment } from "./environment.ts";
import { BadHandlers } from "./handlers/load.ts";
import { createJobServer, type RunningJobServer } from "./serve.ts";
import { keepPausesShort } from "./short-pauses.ts";
import { unknownVariables } from "./unknown-variables.ts";

const USAGE = `sluice jobserver            a job server over HTTP, preferred submitters first

  --handlers FILE           a module whose exports are handlers, one for each type of job
  --help                    this text

Everything else is read from the environment; docs/jobserver.md lists the variables.
Without any it listens on 127.0.0.1:8080, keeps its data in ./data, and has the types
echo, sleep and http-get.`;

/** Exit codes: 0 stopped as asked, 1 could not start or had to stop, 2 the call makes no sense. */
export async function main(
  args: readonly string[],
  env: Environment = process.env,
): Promise<number> {
  let path: string | undefined;
  try {
    const options = {
      handlers: { type: "string" },
      help: { type: "boolean", short: "h" },
    } as const;
    const { values } = parseArgs({ args: [...args], options });
    if (values.help === true) {
      console.log(USAGE);
      return 0;
    }
    path = values.handlers;
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  try {
    return await run(path, env);
  } catch (error) {
    const isKnown =
      error instanceof SluiceError || error instanceof BadVariable || error instanceof BadHandlers;
    console.error(isKnown || !(error instanceof TypeError) ? (error as Error).message : error);
    return error instanceof BadVariable ? 2 : 1;
  }
}

async function run(path: string | undefined, env: Environment): Promise<number> {
  const config = readConfig(env);
  keepPausesShort();
  for (const name of unknownVariables(env)) {
    console.error(`${name} is not a setting of the job server and is ignored`);
  }
  const running = await createJobServer({ config, handlers: path });
  console.log(greeting(running, config));
  const stop = new AbortController();
  const isFailed = await Promise.race([
    once(process, "SIGINT", { signal: stop.signal }).then(() => false),
    once(process, "SIGTERM", { signal: stop.signal }).then(() => false),
    running.server.failed.then((error) => {
      console.error(`${error.message}: nothing more is confirmed, so the server stops`);
      return true;
    }),
  ]);
  stop.abort();
  await running.close();
  return isFailed ? 1 : 0;
}

function greeting({ address }: RunningJobServer, { dir, apiKey }: Config): string {
  const key = apiKey === undefined ? "" : ` -H "authorization: Bearer $API_KEY"`;
  return `job server on ${address}, data in ${dir}

  curl -X POST ${address}/job/add${key} -H 'content-type: application/json' \\
    -d '{"type":"echo","worker_id":"me","arguments":{"hello":"world"}}'
  curl ${address}/job/queue/stats${key}`;
}
