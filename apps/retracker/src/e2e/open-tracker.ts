/** Debian's opentracker on the loopback, over HTTP and UDP, for some hashes. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fetchBytes } from "../testing/scene.ts";
import { Program } from "./programs.ts";
import { until } from "./until.ts";

export class OpenTracker {
  readonly port: number;
  readonly #dir = mkdtempSync(join(tmpdir(), "sluice-opentracker-"));
  #program: Program | undefined = undefined;

  constructor(port: number, torrents: readonly { readonly hex: string }[]) {
    this.port = port;
    // It gives up its rights before it reads the list.
    chmodSync(this.#dir, 0o755);
    const list = torrents.map(({ hex }) => `${hex}\n`).join("");
    writeFileSync(join(this.#dir, "hashes"), list, { mode: 0o644 });
  }

  async start(): Promise<void> {
    const port = String(this.port);
    // As root it locks itself into the directory, and the path is seen from there.
    const list = process.getuid?.() === 0 ? "/hashes" : join(this.#dir, "hashes");
    const where = ["-i", "127.0.0.1", "-p", port, "-P", port];
    this.#program = new Program("opentracker", [
      ...where,
      "-d",
      this.#dir,
      "-w",
      list,
      "-u",
      "nobody",
    ]);
    await until("opentracker", async () => {
      const url = `http://127.0.0.1:${port}/scrape?info_hash=01234567890123456789`;
      const found = await fetchBytes(url).catch(() => undefined);
      return found?.status === 200;
    });
  }

  async kill(): Promise<void> {
    await this.#program?.kill();
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
