// What a user gets from the packed tarballs: installed into an empty directory, run by every
// runtime, compiled, bundled and tested by the tools that people use.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { openPlace, type Place, ROOT } from "./install.ts";

const PACKAGES_MAX = 10;
const INSTALLED_BYTES_MAX = 8_000_000;
const IMPORT_FILES_MAX = 150;
const BROWSER_GZIP_BYTES_MAX = 45_200;

let place: Place;
let closePlace: () => Promise<void>;
// The library and the server, as the README installs them.
let app: string;
let url: string;
let stopServer: () => Promise<void>;

before(async () => {
  ({ place, close: closePlace } = await openPlace());
});

after(async () => {
  await stopServer?.();
  await closePlace?.();
});

// The lines of the README's first block of commands.
function readmeLines(): readonly string[] {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const block = /## Install.*?```sh\n(.*?)```/s.exec(readme)?.[1];
  assert.ok(block !== undefined, "the README has no commands under Install");
  return block.trim().split("\n");
}

test("the README's first lines install, run a job and start a server", async () => {
  const [install, firstJob, firstServer] = readmeLines();
  app = await place.folder("app");
  await place.run(app, "bash", ["-c", install!]);
  measure(app);
  const { out } = await place.run(app, "bash", ["-c", firstJob!]);
  assert.equal(out, "sent to a@b.c\n");
  ({ url, stop: stopServer } = await serve(firstServer!));
});

function measure(folder: string): void {
  const files = globSync("node_modules/**/*", { cwd: folder, withFileTypes: true });
  const manifests = globSync("node_modules/{*,@*/*}/package.json", { cwd: folder });
  const names = manifests.map((path) => path.split("/").slice(1, -1).join("/"));
  const others = names.filter((name) => !/^(@sluice\/.*|sluice)$/.test(name));
  const bytes = files
    .filter((file) => file.isFile())
    .reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
  console.log(`${names.length} packages (${others.join(", ")} of others), ${bytes} bytes`);
  assert.ok(others.length <= PACKAGES_MAX, others.join(", "));
  assert.ok(bytes <= INSTALLED_BYTES_MAX, `${bytes} bytes`);
}

async function serve(line: string): Promise<{ url: string; stop(): Promise<void> }> {
  const env = { ...place.env, SLUICE_PORT: "0" };
  const child = spawn("bash", ["-c", line], { cwd: app, env, detached: true });
  let errors = "";
  child.stderr.on("data", (text) => (errors += text));
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    const ended = once(child, "exit");
    process.kill(-child.pid!, "SIGTERM");
    await ended;
  };
  for await (const text of createInterface(child.stdout)) {
    const found = /API +(http:\S+)\/v1/.exec(text)?.[1];
    if (found !== undefined) return { url: found, stop };
  }
  throw new Error(`the server did not start: ${errors}`);
}

test("importing the library reads few files", async () => {
  const program = `import { registerHooks } from "node:module";
    let files = 0;
    registerHooks({ load: (url, context, next) => {
      if (url.startsWith("file:")) files++;
      return next(url, context);
    } });
    const from = process.cpuUsage();
    await import("sluice");
    const { user, system } = process.cpuUsage(from);
    console.log(files, Math.round((user + system) / 1000));`;
  const { out } = await place.run(app, "node", ["--input-type=module", "-e", program]);
  const [files = 0, milliseconds] = out.split(" ").map(Number);
  console.log(`import "sluice": ${files} files, ${milliseconds} ms of processor time`);
  assert.ok(files > 0 && files <= IMPORT_FILES_MAX, out);
});

test("the command adds, shows and takes jobs, and says what is not installed", async () => {
  const sluice = (...args: string[]): Promise<string> =>
    place.run(app, "npx", ["sluice", ...args], { SLUICE_URL: url }).then(({ out }) => out.trim());
  assert.match(await sluice("--version"), /^\d+\.\d+\.\d+$/);
  assert.match(await sluice("help"), /sluice serve/);
  await sluice("queue", "set", "mail");
  const id = await sluice("add", "mail", '{"to":"ben"}', "--lane", "acme");
  const taken = JSON.parse(await sluice("consume", "mail", "--count", "1", "--json"));
  assert.equal(taken.id, id);
  const missing = await sluice("torznab").catch((error) => error);
  assert.match(missing.stderr, /sluice torznab needs @sluice\/torznab: npm install @sluice/);
  assert.equal((await fetch(`${url}/`)).status, 200, "the dashboard is part of the server");
});

test("a life of jobs runs on Node 22, Node 24, Bun and Deno", async (t) => {
  const runtimes = await place.folder("runtimes", "node@22", "bun", "deno");
  const bin = (name: string): string => join(runtimes, "node_modules", ".bin", name);
  const program = place.copy("life.mjs", app);
  const all: [name: string, command: string, ...args: string[]][] = [
    ["Node 22", bin("node")],
    ["Node 24", process.execPath],
    ["Bun", bin("bun"), "run"],
    ["Deno", bin("deno"), "run", "--allow-all", "--node-modules-dir=manual"],
  ];
  for (const [name, command, ...args] of all) {
    await t.test(name, async () => {
      const dir = join(app, `data of ${name}`);
      const { out } = await place.run(app, command, [...args, program, dir, url]);
      assert.equal(out, "all is well\n");
    });
  }
});

test("CommonJS loads the library by require", async () => {
  const program = 'console.log(typeof require("sluice").Sluice.open)';
  const runtime = join(place.dir, "runtimes", "node_modules", ".bin", "node");
  for (const node of [runtime, process.execPath]) {
    const { out } = await place.run(app, node, ["--input-type=commonjs", "-e", program]);
    assert.equal(out, "function\n");
  }
});

test("TypeScript compiles strictly in three module modes", async (t) => {
  const folder = await place.folder("types", "sluice", "typescript@5", "@types/node@22");
  for (const [module, moduleResolution] of [
    ["node16", "node16"],
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ]) {
    await t.test(`${moduleResolution}`, async () => {
      await compile(folder, "strict.ts", { module, moduleResolution, target: "es2022" });
    });
  }
  await t.test("for browsers, without the types of Node", async () => {
    const page = { module: "esnext", moduleResolution: "bundler", target: "es2022", types: [] };
    const lib = ["es2024", "dom", "esnext.disposable"];
    await compile(folder, "browser.ts", { ...page, lib });
  });
});

async function compile(folder: string, file: string, options: object): Promise<void> {
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    ...options,
  };
  place.copy(file, folder);
  const config = JSON.stringify({ compilerOptions, files: [file] });
  writeFileSync(join(folder, "tsconfig.json"), config);
  const tsc = join(folder, "node_modules", "typescript", "bin", "tsc");
  await place.run(folder, "node", [tsc, "--project", folder]).catch(({ stdout }) => {
    throw new Error(stdout);
  });
}

test("esbuild and webpack bundle the client for browsers, without a plugin", async (t) => {
  const folder = await place.folder("bundles", "sluice", "esbuild", "webpack");
  place.copy("page.mjs", folder);
  await t.test("esbuild", async () => {
    const args = ["page.mjs", "--bundle", "--minify", "--format=esm", "--outfile=esbuild.js"];
    await place.run(folder, join(folder, "node_modules", ".bin", "esbuild"), args);
    checkBundle(join(folder, "esbuild.js"));
    const { follow } = await import(pathToFileURL(join(folder, "esbuild.js")).href);
    assert.equal(await follow(url, "never-issued"), "JOB_NOT_FOUND", "the bundle runs");
  });
  await t.test("webpack", async () => {
    const program = `import webpack from "webpack";
      const output = { path: process.cwd(), filename: "webpack.js", library: { type: "var", name: "page" } };
      webpack({ entry: "./page.mjs", mode: "production", target: "web", output }, (error, stats) => {
        if (error ?? stats.hasErrors()) throw error ?? new Error(stats.toString());
      });`;
    await place.run(folder, "node", ["--input-type=module", "-e", program]);
    checkBundle(join(folder, "webpack.js"));
  });
});

function checkBundle(path: string): void {
  const text = readFileSync(path);
  const { length } = gzipSync(text, { level: 9 });
  console.log(`${path.split("/").at(-1)}: ${text.length} bytes, ${length} gzipped`);
  // Asking at run time whether there are any does no harm.
  const imports = /\b(?:from|import|require)\s*\(?\s*["']node:/;
  assert.ok(!imports.test(text.toString()), "a browser has no modules of Node");
  assert.ok(length <= BROWSER_GZIP_BYTES_MAX, `${length} bytes`);
}

test("Jest runs a test with a fake clock", async () => {
  const folder = await place.folder("jest", "sluice", "jest");
  place.copy("sluice.test.mjs", folder);
  const jest = join(folder, "node_modules", "jest", "bin", "jest.js");
  const args = ["--experimental-vm-modules", "--no-warnings", jest, "--testMatch", "**/*.test.mjs"];
  const { err } = await place.run(folder, "node", args);
  assert.match(err, /1 passed/);
});
