import { VERSION, type WorkerPlace } from "@sluice/protocol";

interface Host {
  pid?: number;
  getBuiltinModule?(name: string): { hostname(): string } | undefined;
}

/** Where this program runs; a browser cannot say. */
export function ownPlace(): WorkerPlace | undefined {
  const own = (globalThis as { process?: Host }).process;
  const host = own?.getBuiltinModule?.("node:os")?.hostname();
  if (host === undefined || own?.pid === undefined) return undefined;
  return { host, process: own.pid, version: VERSION };
}
