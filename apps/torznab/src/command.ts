/** `sluice torznab`: the search service as a program. */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { SluiceError } from "sluice";
import { parse } from "yaml";
import { parseSettings, type Settings, unknownVariables } from "./settings/settings.ts";
import { type RunningTorznab, torznab } from "./torznab.ts";

/** Of a file, with aliases counted as often as they are used. */
const ALIASES_MAX = 100;

const HELP = `sluice torznab [options]

Searches over many Torznab indexers, each within its own limits. Needs no option.

  --config FILE      settings and indexers as YAML
  --dir DIR          where data and the key file lie (./torznab-data)
  --listen ADDRESS   address and port, or a port (127.0.0.1:9797)
  --insecure         serve other machines without a key
  --help

The same settings as variables: TORZNAB_DIR, TORZNAB_LISTEN, TORZNAB_API_KEY, ...
`;

/** Runs until it gets a signal to end; answers the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  let running: RunningTorznab;
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        config: { type: "string" },
        dir: { type: "string" },
        listen: { type: "string" },
        insecure: { type: "boolean" },
        help: { type: "boolean" },
      },
    });
    if (values.help) {
      console.log(HELP);
      return 0;
    }
    const { config, help: _, ...flags } = values;
    const settings = await readSettings(config, flags);
    running = await torznab({ settings, log: "warn" });
    for (const name of unknownVariables(process.env)) {
      console.error(`sluice torznab: ${name} is not a setting and is ignored`);
    }
    console.log(greeting(running, settings));
  } catch (error) {
    return refuse(error);
  }
  const failure = await Promise.race([told(), running.failed]);
  if (failure === undefined) {
    await running.close();
    return 0;
  }
  console.error(`sluice torznab: ${failure.message}: the service stops`);
  // What it cannot write any more is no reason to stay.
  await running.close().catch(() => {});
  return 1;
}

async function readSettings(path: string | undefined, flags: object): Promise<Settings> {
  const text = path === undefined ? "" : await readText(path);
  const file = parsedYaml(text, path);
  return parseSettings(file, process.env, flags as Record<string, unknown>);
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code = "unknown error" } = error as { code?: string };
    throw new SluiceError("INVALID", `--config: the file ${path} cannot be read (${code})`);
  }
}

/** The parser's own errors and warnings would repeat the line, which may contain a key. */
function parsedYaml(text: string, path: string | undefined): unknown {
  try {
    return parse(text, { maxAliasCount: ALIASES_MAX, logLevel: "error" });
  } catch (error) {
    const { linePos, code } = error as { linePos?: { line: number }[]; code?: string };
    const place = linePos === undefined ? path : `${path}, line ${linePos[0]?.line}`;
    throw new SluiceError("INVALID", `${place}: not YAML (${code ?? "too many aliases"})`);
  }
}

function greeting({ address, service }: RunningTorznab, { apiKey, dir }: Settings): string {
  const count = service.parts.indexers.all.length;
  const key = apiKey === undefined ? "none needed on this machine" : "the one you set";
  const lines = [
    `Torznab search service on ${address}, data in ${dir}`,
    `  the page, for a browser:        ${address}/`,
    `  for Sonarr, Radarr and others:  ${address}/api   (API key: ${key})`,
  ];
  if (count > 0) return [...lines, `  ${count} indexers`].join("\n");
  const header = apiKey === undefined ? "" : " -H 'x-api-key: YOUR-KEY'";
  const add = `  curl${header} -H 'content-type: application/json' ${address}/indexers -d`;
  return [
    ...lines,
    "",
    "There is no indexer yet. Add the first one on the page, or with the address that its program shows:",
    `${add} '{"url":"http://localhost:9117/api/v2.0/indexers/NAME/results/torznab/","apiKey":"KEY"}'   # Jackett`,
    `${add} '{"url":"http://localhost:9696/1/api","apiKey":"KEY","name":"my-tracker"}'   # Prowlarr`,
    "Any other Torznab address works the same way.",
  ].join("\n");
}

function told(): Promise<undefined> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => resolve(undefined));
    }
  });
}

function refuse(error: unknown): number {
  const isKnown = error instanceof SluiceError || (error as { code?: unknown }).code !== undefined;
  if (!isKnown) throw error;
  const { message, code } = error as Error & { code?: string };
  const hint = code?.startsWith("ERR_PARSE_ARGS") === true ? "; see sluice torznab --help" : "";
  console.error(`sluice torznab: ${message}${hint}`);
  return 2;
}
