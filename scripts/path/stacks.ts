// Call stacks that enter a package twice, such as client > broker > engine > broker.
//
// `note-stacks.ts` puts a call of `noteStack` at the beginning of every function of `packages`,
// arrow functions included. While something is watched, each of them reads the stack that V8 has at
// that moment. Frames beneath an `await` are not part of it: code after an `await` begins a stack
// of its own. Initialisers of class fields are not seen unless they call a function, and neither is
// code outside of `packages`.

import { pathOf } from "./ran.ts";

const found = new Set<string>();
let isNoting = false;

export async function reentrantWhile(act: () => Promise<void>): Promise<readonly string[]> {
  isNoting = true;
  await act();
  isNoting = false;
  return [...found];
}

export function noteStack(): void {
  if (!isNoting) return;
  const frames = packageFrames();
  const doors = frames.filter((frame, i) => frame.unit !== frames[i - 1]?.unit);
  const units = doors.map(({ unit }) => unit);
  if (new Set(units).size < units.length) found.add(doors.map(({ name }) => name).join(" > "));
}

interface Frame {
  readonly unit: string;
  readonly name: string;
}

// The functions of `packages` on the stack, the outermost first.
function packageFrames(): Frame[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = Number.POSITIVE_INFINITY;
  Error.prepareStackTrace = (_, sites) => sites;
  const sites = new Error().stack as unknown as NodeJS.CallSite[];
  Error.prepareStackTrace = prepareStackTrace;
  Error.stackTraceLimit = stackTraceLimit;
  const frames = sites.flatMap((site) => {
    const path = site.isAsync() ? undefined : pathOf(site.getFileName() ?? "");
    if (path === undefined) return [];
    const unit = path.slice(0, path.indexOf("/"));
    return [{ unit, name: `${unit}:${site.getFunctionName() ?? "(anonymous)"}` }];
  });
  return frames.reverse();
}
