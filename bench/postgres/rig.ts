// One PostgreSQL server, and a Sluice server over it.

import { chmodSync } from "node:fs";
import { join } from "node:path";
import { ownDir, type PeerServer } from "../peers/server.ts";
import { startPostgres } from "../peers/servers/postgres.ts";
import { startSluice } from "../peers/servers/sluice.ts";
import type { ClientName, Place } from "../peers/system.ts";
import { Process } from "../process.ts";
import { Scratch } from "../scratch.ts";

export class PostgresRig implements AsyncDisposable {
  readonly #scratch: Scratch;
  readonly #stack = new AsyncDisposableStack();
  readonly url: string;
  readonly version: string;
  readonly database: PeerServer;

  private constructor(scratch: Scratch, database: PeerServer, url: string, version: string) {
    this.#scratch = scratch;
    this.database = this.#stack.use(database);
    this.url = url;
    this.version = version;
  }

  static async start(): Promise<PostgresRig> {
    const scratch = new Scratch();
    // Servers run as another user, each in a directory of its own below this one.
    chmodSync(scratch.dir, 0o711);
    process.setMaxListeners(0);
    const { server, address, version } = await startPostgres(ownDir(scratch.fresh()), "sync");
    return new PostgresRig(scratch, server, address, version);
  }

  get disk(): string {
    return this.#scratch.disk;
  }

  // `where`: its log is a file of its own, or in the database.
  async sluice(where: "file" | "postgres", ...args: readonly string[]) {
    const log = where === "postgres" ? ["--log", this.url] : [];
    const dir = ownDir(this.#scratch.fresh());
    const { server, address } = await startSluice(dir, "sync", [...log, ...args]);
    this.#stack.use(server);
    return { server, address };
  }

  // Connected and consuming.
  async client(
    system: { client: ClientName; variant?: string },
    address: string,
    isLatency: boolean,
  ) {
    const one = this.#stack.use(
      new Process(join(import.meta.dirname, "client.ts"), [system.client]),
    );
    const place: Place = {
      ...{ address, queue: "jobs", variant: system.variant, isLatency, isFair: false },
      ...{ concurrency: undefined, limitPerSecond: undefined },
    };
    await one.ask("open", system.client, place);
    return one;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
    this.#scratch[Symbol.dispose]();
  }
}
