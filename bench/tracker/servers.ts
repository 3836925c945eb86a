// The trackers that are measured, each in a process of its own.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, createWriteStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "@sluice/server/testing/loopback";
import { hashOf } from "./load.ts";

const RETRACKER = join(import.meta.dirname, "..", "..", "apps", "retracker", "src", "main.ts");
const NPM_TRACKER = join(import.meta.dirname, "npm-tracker.ts");
const BARE_NODE = join(import.meta.dirname, "bare-node.ts");
const TICKS_PER_SECOND = 100;
// Two million peers of npm's tracker do not fit into Node's usual heap; ours gets the same.
const HEAP = "--max-old-space-size=8192";
const START_MS = 60_000;

export class TrackerServer implements AsyncDisposable {
  readonly name: string;
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(name: string, port: number, command: string, args: readonly string[]) {
    this.name = name;
    this.port = port;
    this.#child = spawn(command, args, { stdio: ["ignore", "ignore", 2] });
    process.on("exit", () => this.#child.kill("SIGKILL"));
  }

  // The load comes from one address, which other trackers serve as fast as they can.
  static retrackerWithoutPace(dir: string, flags: readonly string[] = []): Promise<TrackerServer> {
    return TrackerServer.retracker(dir, ["--requests-per-address-per-sec", "0", ...flags]);
  }

  static async retracker(dir: string, flags: readonly string[] = []): Promise<TrackerServer> {
    const port = await freePort();
    const where = [`127.0.0.1:${port}`, "--udp-listen", `127.0.0.1:${port}`, "--dir", dir];
    const args = [HEAP, RETRACKER, "--listen", ...where, "--stats-interval", "0", ...flags];
    return TrackerServer.#ready(new TrackerServer("retracker", port, process.execPath, args));
  }

  // Undefined where it is not installed. Debian's build serves only hashes from its list.
  static async openTracker(dir: string, hashes: number): Promise<TrackerServer | undefined> {
    if (spawnSync("sh", ["-c", "command -v opentracker"]).status !== 0) return undefined;
    const port = await freePort();
    chmodSync(dir, 0o755);
    const file = createWriteStream(join(dir, "hashes"));
    for (let i = 0; i < hashes; i++) if (!file.write(`${hashOf(i)}\n`)) await once(file, "drain");
    file.end();
    await once(file, "finish");
    const list = process.getuid?.() === 0 ? "/hashes" : join(dir, "hashes");
    const where = ["-i", "127.0.0.1", "-p", String(port), "-P", String(port)];
    const args = [...where, "-d", dir, "-w", list, "-u", "nobody"];
    return TrackerServer.#ready(new TrackerServer("opentracker", port, "opentracker", args));
  }

  // Undefined where npm has not brought it.
  static async npmTracker(): Promise<TrackerServer | undefined> {
    try {
      import.meta.resolve("bittorrent-tracker/server");
    } catch {
      return undefined;
    }
    const port = await freePort();
    const args = [HEAP, NPM_TRACKER, String(port)];
    return TrackerServer.#ready(
      new TrackerServer("bittorrent-tracker", port, process.execPath, args),
    );
  }

  // Not a tracker, but the least that one on Node can take.
  static async bareNode(): Promise<TrackerServer> {
    const port = await freePort();
    const args = [BARE_NODE, String(port)];
    return TrackerServer.#ready(new TrackerServer("bare Node", port, process.execPath, args));
  }

  static async #ready(tracker: TrackerServer): Promise<TrackerServer> {
    const deadline = Date.now() + START_MS;
    const url = `http://127.0.0.1:${tracker.port}/scrape?info_hash=01234567890123456789`;
    while (!(await fetch(url).then(Boolean, () => false))) {
      if (Date.now() > deadline || !tracker.isRunning)
        throw new Error(`${tracker.name} did not start`);
      await pause(50);
    }
    return tracker;
  }

  // One that has died, as by its memory, is measured no further.
  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  // Seconds of processor time that it has used.
  get cpuSeconds(): number {
    const stat = readFileSync(`/proc/${this.#child.pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }

  get memoryBytes(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    if (this.isRunning) await once(this.#child, "exit");
  }
}
