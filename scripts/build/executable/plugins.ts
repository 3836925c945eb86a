// What differs in an executable: there are no files beside the program.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "rolldown";

const IMPORTS = /^import\b[^;]*;\n/gm;

// The program of an executable is a script, and a script cannot await outside of a function.
export function asScript(entry: string): Plugin {
  return {
    name: "as-script",
    transform(code, id) {
      if (id !== entry) return null;
      const imports = (code.match(IMPORTS) ?? []).join("");
      return { code: `${imports}(async () => {\n${code.replace(IMPORTS, "")}\n})();\n` };
    },
  };
}

const PAGE = "packages/dashboard/src/load-page.ts";

// The page and the programs of threads come from the executable.
export function packaged(root: string): Plugin {
  const own = join(root, "scripts", "build", "executable");
  const threads = join(own, "packaged-threads.ts");
  return {
    name: "packaged",
    resolveId: {
      filter: { id: /^node:worker_threads$/ },
      handler: (_id, importer) => (importer === threads ? null : threads),
    },
    load: {
      filter: { id: join(root, PAGE) },
      handler: () => readFileSync(join(own, "packaged-page.ts"), "utf8"),
    },
  };
}

const READ = 'fs.readFileSync(b,c?void 0:"utf8")';

// wasmoon reads its module of WebAssembly from a file beside it; here the bytes are in the program.
export function luaGlue(root: string): Plugin {
  const folder = join(root, "node_modules", "wasmoon", "dist");
  return {
    name: "lua-glue",
    transform(code, id) {
      if (id !== join(folder, "index.js")) return null;
      if (code.split(READ).length !== 2) throw new Error(`wasmoon has no ${READ} any more`);
      const bytes = readFileSync(join(folder, "glue.wasm")).toString("base64");
      return { code: code.replace(READ, `Buffer.from("${bytes}", "base64")`) };
    },
  };
}
