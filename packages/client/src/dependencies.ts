import { type Broker, type PageOptions, type PageStart, walkPages } from "@sluice/protocol";
import type { Dependency } from "./dependency.ts";
import { decodeLeniently } from "./payload.ts";

/** The jobs that a job waits for, in order. The loop reads them page by page as it advances. */
export async function* readDependencies<Result>(
  port: Broker,
  id: string,
  options: PageOptions | undefined,
): AsyncGenerator<Dependency<Result>, undefined> {
  const { cursor: _, ...rest } = options ?? {};
  const ask = (from: PageStart) => port.dependencies(id, { limit: 1000, ...rest, ...from });
  for await (const { result, ...info } of walkPages(ask)) {
    yield result === undefined ? info : { ...info, result: decodeLeniently(result) as Result };
  }
}
