// Follows a page of the documentation: it types the commands as they are there, on the machine
// that the page names. `sluice` is this program; `systemctl` starts and stops the test's servers.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FaultCluster } from "../faults/fault-cluster.ts";
import type { Block } from "./page.ts";

const MAIN = join(import.meta.dirname, "..", "..", "main.ts");
const ON_NATS = /^# on each NATS server.*\n/;

export class Operator {
  readonly #cluster: FaultCluster;
  readonly #dir: string;
  readonly #watcher: ReturnType<typeof watch>;

  constructor(cluster: FaultCluster, dir: string) {
    this.#cluster = cluster;
    this.#dir = dir;
    mkdirSync(join(dir, "bin"), { recursive: true });
    mkdirSync(join(dir, "asked"));
    this.#script("sluice", `exec ${process.execPath} ${MAIN} "$@"`);
    // Asks the test, and waits until it is done.
    this.#script(
      "systemctl",
      [
        `asked=${join(dir, "asked")}`,
        'echo "$1 $2" > "$asked/$SERVER.new" && mv "$asked/$SERVER.new" "$asked/$SERVER"',
        'while [ -e "$asked/$SERVER" ]; do sleep 0.05; done',
      ].join("\n"),
    );
    this.#watcher = watch(join(dir, "asked"), (_, name) => void this.#serve(name ?? ""));
  }

  // Types a block; answers all that was printed. `servers` are those that the page means.
  async follow({ text }: Block, servers: readonly number[] = []): Promise<string> {
    if (!ON_NATS.test(text)) return this.#type(text);
    const printed: string[] = [];
    for (const server of servers) {
      printed.push(await this.#type(text, { SERVER: String(server) }));
    }
    // With JetStream stopped on all of them, the first is ready when the others are.
    await this.#cluster.nats.ready();
    return printed.join("\n");
  }

  close(): void {
    this.#watcher.close();
  }

  #script(name: string, text: string): void {
    const path = join(this.#dir, "bin", name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
  }

  async #serve(name: string): Promise<void> {
    if (!/^\d$/.test(name)) return;
    const path = join(this.#dir, "asked", name);
    let asked: string;
    try {
      asked = readFileSync(path, "utf8").trim();
    } catch {
      return;
    }
    const [verb, unit] = asked.split(" ");
    if (unit !== "nats-server") throw new Error(`there is no unit ${unit}`);
    const { nats } = this.#cluster;
    if (verb === "restart" || verb === "stop") await nats.kill(Number(name), "SIGTERM");
    if (verb === "restart" || verb === "start") await nats.restart(Number(name));
    rmSync(path, { force: true });
  }

  async #type(text: string, more: Record<string, string> = {}): Promise<string> {
    const env = {
      PATH: `${join(this.#dir, "bin")}:${process.env.PATH}`,
      SLUICE_CLUSTER: `nats://${this.#cluster.natsHosts.map(({ address }) => address).join(",")}`,
      SLUICE_URL: this.#cluster.urls[0]!,
      ...more,
    };
    const options = { cwd: this.#dir, env };
    const child = spawn("sh", ["-euc", text], { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (bytes) => (printed += bytes));
    }
    const [code] = await once(child, "close");
    if (code !== 0) throw new Error(`${text}\nended with ${code}: ${printed}`);
    return printed;
  }
}
