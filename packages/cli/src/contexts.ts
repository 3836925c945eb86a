/**
 * Servers by name, for people who work with several: a file of the user, which only the user may
 * read because it holds API keys.
 */
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { nearest, SluiceError } from "@sluice/protocol";
import { CONTEXTS_MAX } from "./limits.ts";

export interface Context {
  readonly name: string;
  readonly url: string;
  readonly key?: string;
  /** Files, by their absolute paths. */
  readonly ca?: string;
  readonly cert?: string;
  readonly certKey?: string;
}

export interface Contexts {
  readonly current?: string;
  readonly contexts: readonly Context[];
}

type Env = Readonly<Record<string, string | undefined>>;

const NONE: Contexts = { contexts: [] };
const VERSION = 1;
/** All that others could read or write. */
const OTHERS = 0o077;

/** Undefined where the environment names no home, as in a bare container. */
function contextsPath(env: Env): string | undefined {
  if (env.SLUICE_CONTEXTS) return env.SLUICE_CONTEXTS;
  const home = env.HOME || env.USERPROFILE;
  const base = env.XDG_CONFIG_HOME || (home ? join(home, ".config") : undefined);
  return base === undefined ? undefined : join(base, "sluice", "contexts.json");
}

export function readContexts(env: Env): Contexts {
  const path = contextsPath(env);
  const text = path === undefined ? undefined : readOwn(path);
  if (path === undefined || text === undefined) return NONE;
  const { version, current, contexts } = parsed(path, text);
  if (version !== VERSION || !Array.isArray(contexts) || !contexts.every(isContext)) {
    throw damaged(path, `it is not a list of contexts of version ${VERSION}`);
  }
  return typeof current === "string" ? { current, contexts } : { contexts };
}

function readOwn(path: string): string | undefined {
  try {
    const { mode } = statSync(path);
    if (process.platform !== "win32" && (mode & OTHERS) !== 0) {
      const octal = (mode & 0o777).toString(8);
      throw invalid(`${path} holds API keys and has mode ${octal}: run chmod 600 ${path}`);
    }
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    if (error instanceof SluiceError) throw error;
    throw damaged(path, (error as Error).message);
  }
}

/** The text is not in the message: it holds keys. */
function parsed(path: string, text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged(path, "it is not JSON");
  }
  if (typeof value !== "object" || value === null) throw damaged(path, "it is not an object");
  return value as Record<string, unknown>;
}

function isContext(value: unknown): value is Context {
  if (typeof value !== "object" || value === null) return false;
  const { name, url, ...rest } = value as Record<string, unknown>;
  return [name, url, ...Object.values(rest)].every((text) => typeof text === "string");
}

/** Replaces the file as a whole, so that a crash leaves the old one or the new one. */
export function writeContexts(env: Env, { current, contexts }: Contexts): void {
  const path = contextsPath(env);
  if (path === undefined) {
    throw invalid("cannot store contexts: set HOME, or SLUICE_CONTEXTS to the path of a file");
  }
  if (contexts.length > CONTEXTS_MAX) {
    throw invalid(`there are ${CONTEXTS_MAX} contexts already: remove one first`);
  }
  const beside = `${path}.${process.pid}.new`;
  const text = JSON.stringify({ version: VERSION, current, contexts }, undefined, 2);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(beside, `${text}\n`, { mode: 0o600 });
    chmodSync(beside, 0o600);
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw invalid(`cannot write contexts to ${path}: ${(error as Error).message}`);
  }
}

export function contextOf({ contexts }: Contexts, name: string): Context {
  const found = contexts.find((context) => context.name === name);
  if (found !== undefined) return found;
  const names = contexts.map((context) => context.name);
  const meant = nearest(name, names);
  const hint = meant === undefined ? "`sluice context list` shows all" : `did you mean ${meant}?`;
  throw invalid(`there is no context ${JSON.stringify(name)}: ${hint}`);
}

function damaged(path: string, reason: string): SluiceError {
  return invalid(`cannot read contexts from ${path}: ${reason}. Correct the file or remove it`);
}

function invalid(message: string): SluiceError {
  return new SluiceError("INVALID", message, { field: "context" });
}
