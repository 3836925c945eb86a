// Loaded before a program (`--import`): has every function of `packages` note its call stack.

import { registerHooks } from "node:module";
import { pathOf } from "./ran.ts";
import { noteStack } from "./stacks.ts";
import { noting } from "./syntax.ts";

Object.assign(globalThis, { noteStack });

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (pathOf(url) === undefined || loaded.source === undefined) return loaded;
    return { ...loaded, source: noting(url, String(loaded.source)) };
  },
});
