/** The handlers of a user's module: its default export, or what it exports by name. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { JobHandlers } from "./handler.ts";

export class BadHandlers extends Error {
  override readonly name = "BadHandlers";
}

const TYPE = /^[A-Za-z0-9._-]{1,64}$/;

export async function loadHandlers(path: string): Promise<JobHandlers> {
  let module: Record<string, unknown>;
  try {
    module = await import(pathToFileURL(resolve(path)).href);
  } catch (error) {
    throw new BadHandlers(`${path} cannot be loaded: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const { default: whole, ...named } = module;
  return checkHandlers(isObject(whole) ? whole : named, path);
}

export function checkHandlers(handlers: object, from: string): JobHandlers {
  const entries = Object.entries(handlers);
  if (entries.length === 0) throw new BadHandlers(`${from} exports no handlers`);
  for (const [type, handler] of entries) {
    if (!TYPE.test(type)) {
      throw new BadHandlers(`${from}: ${JSON.stringify(type)} is no name of a job type`);
    }
    if (typeof handler !== "function") {
      throw new BadHandlers(`${from}: ${type} is not a function but ${typeof handler}`);
    }
  }
  return handlers as JobHandlers;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
