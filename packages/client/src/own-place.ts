import { VERSION, type WorkerPlace } from "@sluice/protocol";

interface Host {
  pid?: number;
  getBuiltinModule?(name: string): { hostname(): string } | undefined;
}

/** Where this program runs; a browser cannot say. */
export function ownPlace(): WorkerPlace | undefined {
  const { process } = globalThis as { process?: Host };
  const host = process?.getBuiltinModule?.("node:os")?.hostname();
  if (host === undefined || process?.pid === undefined) return undefined;
  return { host, process: process.pid, version: VERSION };
}
