import { resolve } from "node:path";
import { type Call, type Command, Misuse, tell, textOf, wordsOf } from "../command.ts";
import {
  type Context,
  type Contexts,
  contextOf,
  readContexts,
  writeContexts,
} from "../contexts.ts";
import { lines } from "../lines.ts";
import { table } from "../show.ts";
import { selectedContext } from "../target.ts";

const VERBS = ["list", "add", "use", "remove"];
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const PROTOCOLS = ["http:", "https:", "ws:", "wss:"];
const FILES = { ca: "ca", cert: "cert", certKey: "cert-key" } as const;

export const contextCommand: Command = {
  name: "context",
  verbs: VERBS,
  usage: `sluice context [list]             servers by name; * marks the one that is used
sluice context add NAME --url URL [--key -]
sluice context use NAME | --none  which server the next commands talk to
sluice context remove NAME

Commands choose a server by --url, --context, SLUICE_URL, SLUICE_CONTEXT, and then by
\`context use\`. Contexts are in ~/.config/sluice/contexts.json, which only you can read, or in
the file that SLUICE_CONTEXTS names. A context's key is sent to its own server alone.

  --url URL              add: the server
  --key KEY              add: its API key; - reads it from standard input. It is never printed
  --ca FILE              add: the authority of its certificate
  --cert, --cert-key FILE  add: the client's certificate
  --replace              add: also if the name exists
  --none                 use: none of them`,
  options: {
    url: { type: "string" },
    key: { type: "string" },
    ca: { type: "string" },
    cert: { type: "string" },
    "cert-key": { type: "string" },
    replace: { type: "boolean" },
    none: { type: "boolean" },
  },
  run: async (call) => {
    const [verb = "list", ...rest] = call.words;
    if (verb === "list") return list(call, rest);
    if (verb === "add") return add(call, wordsOf(rest, "NAME")[0]);
    if (verb === "use") return use(call, rest);
    if (verb === "remove") return remove(call, wordsOf(rest, "NAME")[0]);
    throw new Misuse(`"${verb}" is not one of ${VERBS.join(", ")}`);
  },
};

function list(call: Call, rest: readonly string[]): number {
  wordsOf(rest);
  const known = readContexts(call.env);
  const used = selectedContext(call.env, known);
  const items = known.contexts.map(({ name, url, key }) => ({
    name,
    url,
    hasKey: key !== undefined,
    isUsed: name === used,
  }));
  return tell(call, { items }, () => {
    if (items.length === 0) return "no contexts yet: sluice context add NAME --url URL";
    const rows = items.map(({ name, url, hasKey, isUsed }) => [
      ...[isUsed ? "*" : "", name, url],
      hasKey ? "yes" : "no",
    ]);
    const shown = table(["", "context", "url", "key"], rows);
    const by = call.env.SLUICE_URL ? `\n\nSLUICE_URL is set: ${call.env.SLUICE_URL}` : "";
    return shown + by;
  });
}

async function add(call: Call, name: string): Promise<number> {
  if (!NAME.test(name)) {
    const wanted = "up to 64 letters, digits, dots, dashes and underscores";
    throw new Misuse(`NAME must be ${wanted}, got ${JSON.stringify(name)}`);
  }
  const before = readContexts(call.env);
  const others = before.contexts.filter((context) => context.name !== name);
  if (others.length < before.contexts.length && call.values.replace !== true) {
    throw new Misuse(`there is already a context ${name}: add --replace to change it`);
  }
  const url = addressOf(call);
  const key = await keyOf(call);
  const context: Context = { name, url, ...(key === undefined ? {} : { key }), ...filesOf(call) };
  const contexts = [...others, context].sort((a, b) => (a.name < b.name ? -1 : 1));
  writeContexts(call.env, { ...before, contexts });
  return tell(
    call,
    { added: name },
    () => `${name} is added: \`sluice context use ${name}\` selects it`,
  );
}

function addressOf(call: Call): string {
  const text = textOf(call, "url");
  if (text === undefined) throw new Misuse("--url is needed, such as --url https://jobs.example");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !PROTOCOLS.includes(url.protocol)) {
    throw new Misuse(`--url must be an address of http, https, ws or wss, got ${printed(text)}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new Misuse("--url must have no user and no password: give the API key with --key");
  }
  return text;
}

/** What is no address may hold a password all the same. */
function printed(text: string): string {
  return JSON.stringify(text.replace(/\/\/[^/@]*@/, "//...@"));
}

async function keyOf(call: Call): Promise<string | undefined> {
  const given = textOf(call, "key");
  if (given !== "-") return given;
  for await (const line of lines(call.input)) {
    if (line.trim() !== "") return line.trim();
  }
  throw new Misuse("--key - reads the key from standard input, which is empty");
}

function filesOf(call: Call): Pick<Context, keyof typeof FILES> {
  const given = Object.entries(FILES).flatMap(([name, flag]) => {
    const path = textOf(call, flag);
    return path === undefined ? [] : [[name, resolve(path)] as const];
  });
  const files: Pick<Context, keyof typeof FILES> = Object.fromEntries(given);
  if ((files.cert === undefined) === (files.certKey === undefined)) return files;
  throw new Misuse("--cert and --cert-key belong together: give both files, or neither");
}

function use(call: Call, rest: readonly string[]): number {
  const { contexts } = readContexts(call.env);
  if (call.values.none === true) {
    wordsOf(rest);
    writeContexts(call.env, { contexts });
    return tell(call, { used: null }, () => "no context is used");
  }
  const [name] = wordsOf(rest, "NAME");
  const { url } = contextOf({ contexts }, name);
  writeContexts(call.env, { current: name, contexts });
  return tell(call, { used: name, url }, () => `commands now talk to ${name}, ${url}`);
}

function remove(call: Call, name: string): number {
  const before = readContexts(call.env);
  contextOf(before, name);
  const contexts = before.contexts.filter((context) => context.name !== name);
  const { current } = before;
  const after: Contexts =
    current === undefined || current === name ? { contexts } : { current, contexts };
  writeContexts(call.env, after);
  return tell(call, { removed: name }, () => `${name} is removed`);
}
