// Which functions of `packages` run while something is done: V8's precise coverage counts them.

import { Session } from "node:inspector/promises";

export interface RanFile {
  // Beneath `packages`, such as `broker/src/add.ts`.
  readonly path: string;
  // Where in the file the functions are that ran; the code at its top level is not one of them.
  readonly functions: readonly { readonly start: number; readonly end: number }[];
}

export async function ranWhile(act: () => Promise<void>): Promise<readonly RanFile[]> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  // What ran so far is forgotten by this.
  await session.post("Profiler.takePreciseCoverage");
  await act();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  return result.flatMap(({ url, functions }) => {
    const path = pathOf(url);
    const ran = functions.flatMap(({ functionName, ranges: [range] }) => {
      const { count, startOffset: start, endOffset: end } = range!;
      const isTopLevel = functionName === "" && start === 0;
      return count === 0 || isTopLevel ? [] : [{ start, end }];
    });
    return path === undefined || ran.length === 0 ? [] : [{ path, functions: ran }];
  });
}

export function pathOf(url: string): string | undefined {
  return /\/packages\/([^/]+\/src\/.*\.ts)$/.exec(url)?.[1];
}
