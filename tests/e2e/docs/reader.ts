// A reader of one page: writes its files and types its commands in an empty directory.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { freePort } from "../dashboard/server.ts";
import { type Block, type Command, isAsShown } from "./blocks.ts";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const CLI = join(ROOT, "packages", "cli", "src", "main.ts");
/** The port that pages name; each reader has one of its own. */
const SHOWN_PORT = /\b7070\b/g;
const COMMAND_MS_MAX = 60_000;

export class Reader {
  readonly #dir = mkdtempSync(join(tmpdir(), "sluice-docs-"));
  readonly #running: ChildProcess[] = [];
  readonly #port: number;
  #printed = "";

  static async start(): Promise<Reader> {
    return new Reader(await freePort());
  }

  private constructor(port: number) {
    this.#port = port;
    writeFileSync(join(this.#dir, "package.json"), '{ "type": "module", "private": true }\n');
    mkdirSync(join(this.#dir, "node_modules"));
    symlinkSync(join(ROOT, "packages", "sluice"), join(this.#dir, "node_modules", "sluice"));
  }

  async follow(blocks: readonly Block[]): Promise<void> {
    for (const block of blocks) {
      if (block.kind === "file") this.#write(block.name, block.text);
      else if (block.kind === "commands") await this.#type(block.commands);
      else this.#compare(block.text, block.line);
    }
  }

  async close(): Promise<void> {
    for (const child of this.#running) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    rmSync(this.#dir, { recursive: true, force: true });
  }

  #write(name: string, text: string): void {
    const path = join(this.#dir, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, this.#own(text));
  }

  async #type(commands: readonly Command[]): Promise<void> {
    this.#printed = "";
    for (const { line, exitCode } of commands) {
      if (/^(npm (init|install)|cd|mkdir) ?/.test(line)) continue;
      if (/^npx sluice serve\b/.test(line)) await this.#serve(line);
      else this.#printed += await this.#run(line, exitCode);
    }
  }

  async #serve(line: string): Promise<void> {
    const child = this.#spawn(line);
    this.#running.push(child);
    let said = "";
    child.stdout?.on("data", (chunk) => (said += chunk));
    child.stderr?.on("data", (chunk) => (said += chunk));
    const gone = once(child, "exit").then(() => assert.fail(`${line} ended: ${said}`));
    gone.catch(() => {});
    await Promise.race([this.#isReady(), gone]);
  }

  async #isReady(): Promise<void> {
    const url = `http://127.0.0.1:${this.#port}/readyz`;
    const signal = AbortSignal.timeout(COMMAND_MS_MAX);
    for (;;) {
      signal.throwIfAborted();
      const answer = await fetch(url).catch(() => undefined);
      if (answer?.ok) return;
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  async #run(line: string, exitCode: number): Promise<string> {
    const child = this.#spawn(line);
    const timer = setTimeout(() => child.kill("SIGKILL"), COMMAND_MS_MAX);
    let printed = "";
    let complained = "";
    child.stdout?.on("data", (chunk) => (printed += chunk));
    child.stderr?.on("data", (chunk) => (complained += chunk));
    const [code] = await once(child, "close");
    clearTimeout(timer);
    assert.equal(code, exitCode, `${line}\n${complained}${printed}`);
    return printed.replaceAll(String(this.#port), "7070");
  }

  /** `npx sluice` is the command of this tree; `node` is the Node that runs the tests. */
  #spawn(line: string): ChildProcess {
    const command = this.#own(line)
      .replace(/\bnpx sluice\b/g, `"${process.execPath}" "${CLI}"`)
      .replace(/^node\b/, `"${process.execPath}"`);
    const port = String(this.#port);
    const own = { NO_COLOR: "1", SLUICE_PORT: port, SLUICE_URL: `http://127.0.0.1:${port}` };
    // Without it, `node --test` reports to the test runner that it runs in.
    const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
    const env = { ...inherited, ...own };
    return spawn("bash", ["-c", `exec ${command}`], { cwd: this.#dir, env });
  }

  #own(text: string): string {
    return text.replace(SHOWN_PORT, String(this.#port));
  }

  #compare(shown: string, line: number): void {
    if (isAsShown(shown, this.#printed)) return;
    assert.equal(this.#printed, shown, `the output at line ${line} of the page`);
  }
}
