import type { Client } from "pg";
import { bindInParts } from "./bind-in-parts.ts";
import type { PostgresSettings } from "./options.ts";

/** Where the database is, and how it is used. */
export type SessionSettings = Pick<PostgresSettings, "url" | "name" | "durability" | "answerMs">;

export interface SessionOptions {
  /** For `pg_stat_activity`. */
  readonly purpose: string;
  /** Whether statements are sent without waiting for the answers to those before. */
  readonly pipeline?: boolean;
}

/** A transaction here is a few statements in a row. */
const IDLE_MS = 1000;

/**
 * A role's limits are meant for its other work. Here they would end statements that wait for a
 * lock, and sessions that wait for their turn. Not every version has all of them.
 */
export const WITHOUT_LIMITS = `SELECT set_config(name, '0', false) FROM pg_settings
  WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout',
    'idle_session_timeout', 'idle_in_transaction_session_timeout')`;

const KEEPALIVE = [
  ["tcp_keepalives_idle", 5],
  ["tcp_keepalives_interval", 3],
  ["tcp_keepalives_count", 3],
] as const;

/** One connection to PostgreSQL, made when it is needed and again after it was lost. */
export class PostgresSession {
  readonly #settings: SessionSettings;
  readonly #options: SessionOptions;
  #client: Client | undefined;
  #connecting: Promise<Client> | undefined;
  #isClosed = false;
  /** Called when a connection that was in use is lost. */
  onLost: (error: Error) => void = () => {};

  /** Called with each new connection before it is used. */
  onConnect: (client: Client) => Promise<unknown> = async () => {};

  constructor(settings: SessionSettings, options: SessionOptions) {
    this.#settings = settings;
    this.#options = options;
  }

  /** The connection if there is one now. */
  get current(): Client | undefined {
    return this.#client;
  }

  connected(): Promise<Client> {
    if (this.#client !== undefined) return Promise.resolve(this.#client);
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  /** Gives the connection up: what it has not answered is uncertain. */
  drop(): void {
    const client = this.#client;
    this.#client = undefined;
    // `end` would wait for answers that may never come.
    client?.connection.stream.destroy();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connecting?.catch(() => {});
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  async #connect(): Promise<Client> {
    const { default: pg } = await import("pg");
    const { url, name, durability, answerMs } = this.#settings;
    const client = new pg.Client({
      connectionString: url,
      application_name: `sluice ${name} ${this.#options.purpose}`.slice(0, 63),
      connectionTimeoutMillis: answerMs,
      query_timeout: answerMs,
      keepAlive: true,
      pipeline: this.#options.pipeline ?? false,
    } as ConstructorParameters<typeof pg.Client>[0]);
    client.on("error", (error) => this.#lose(client, error));
    client.on("end", () => this.#lose(client, new Error("Connection ended")));
    bindInParts(client.connection);
    try {
      await client.connect();
      await client.query(WITHOUT_LIMITS);
      const mode = durability === "os" ? "off" : "on";
      await client.query(`SET synchronous_commit = ${mode}`);
      // Statements that waited for a lock must see what was committed meanwhile.
      await client.query("SET default_transaction_isolation = 'read committed'");
      // The locks of a machine that lost its power are free after about 15 seconds.
      for (const [name, value] of KEEPALIVE) await client.query(`SET ${name} = ${value}`);
      // A process that is stopped in the middle of a transaction must not hold its locks.
      await client.query(`SET idle_in_transaction_session_timeout = ${IDLE_MS}`);
      await this.onConnect(client);
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    }
    if (this.#isClosed) {
      await client.end();
      throw new Error("Connection ended");
    }
    this.#client = client;
    return client;
  }

  #lose(client: Client, error: Error): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.onLost(error);
  }
}
