/**
 * What PostgreSQL notifies, over a connection that is made again when it is lost. A query at
 * regular times proves that the connection lives: one that was cut without a word is noticed.
 */
import { isPassingInPostgres, PostgresSession, postgresReason } from "@sluice/log/postgres";
import { SluiceError } from "@sluice/protocol";
import { ANSWER_MS, LOOK_MS, RECONNECT_MS } from "./limits.ts";

export type DatabaseClient = Awaited<ReturnType<PostgresSession["connected"]>>;

export interface DatabaseOptions {
  readonly url: string;
  /** For `pg_stat_activity`. */
  readonly name: string;
  readonly answerMs?: number | undefined;
}

/** A connection for statements: errors are those of the port. */
export class Statements {
  readonly #session: PostgresSession;

  constructor({ url, name, answerMs = ANSWER_MS }: DatabaseOptions, purpose: string) {
    const settings = { url, name, answerMs, durability: "fsync" as const };
    this.#session = new PostgresSession(settings, { purpose, pipeline: true });
    // A statement that no caller waits for any more must not take effect later.
    this.#session.onConnect = (client) => client.query(`SET statement_timeout = ${answerMs}`);
  }

  async run<T>(act: (client: DatabaseClient) => Promise<T>): Promise<T> {
    try {
      return await act(await this.#session.connected());
    } catch (error) {
      if (error instanceof SluiceError) throw error;
      if (isPassingInPostgres(error)) this.#session.drop();
      throw toDatabaseError(error);
    }
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}

type OnNotice = (payload: string) => void;

export class Notices {
  readonly #session: PostgresSession;
  readonly #listeners = new Map<string, Set<OnNotice>>();
  readonly #onLook = new Set<(isNew: boolean) => Promise<unknown>>();
  #isClosed = false;
  #isNew = true;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor({ url, name, answerMs = ANSWER_MS }: DatabaseOptions) {
    const settings = { url, name, answerMs, durability: "fsync" as const };
    this.#session = new PostgresSession(settings, { purpose: "notices", pipeline: true });
    this.#session.onConnect = (client) => this.#onConnect(client);
    this.#session.onLost = () => this.#lookAfter(RECONNECT_MS);
  }

  /** Calls back for each notice of a channel from when it resolves, until it is stopped. */
  async listen(channel: string, onNotice: OnNotice): Promise<() => void> {
    const listener: OnNotice = (payload) => onNotice(payload);
    let listeners = this.#listeners.get(channel);
    if (listeners === undefined) {
      listeners = new Set();
      this.#listeners.set(channel, listeners);
    }
    listeners.add(listener);
    await this.run((client) => client.query(`LISTEN ${channel}`));
    this.#lookAfter(LOOK_MS);
    return () => void listeners.delete(listener);
  }

  /** Also called at regular times: `isNew` when notices may have been lost since the last time. */
  onLook(act: (isNew: boolean) => Promise<unknown>): () => void {
    this.#onLook.add(act);
    return () => void this.#onLook.delete(act);
  }

  async notify(channel: string, payload: string): Promise<void> {
    const text = "SELECT pg_notify($1, $2)";
    await this.run((client) => client.query({ name: "notify", text, values: [channel, payload] }));
  }

  async run<T>(act: (client: DatabaseClient) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new SluiceError("CLOSED", "the connection is closed");
    try {
      return await act(await this.#session.connected());
    } catch (error) {
      if (isPassingInPostgres(error)) {
        this.#session.drop();
        this.#lookAfter(RECONNECT_MS);
      }
      throw error instanceof SluiceError ? error : toDatabaseError(error);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#session.close();
    await this.#looking;
  }

  async #onConnect(client: DatabaseClient): Promise<void> {
    this.#isNew = true;
    client.on("notification", ({ channel, payload = "" }) => {
      for (const listener of this.#listeners.get(channel) ?? []) listener(payload);
    });
    for (const channel of this.#listeners.keys()) await client.query(`LISTEN ${channel}`);
  }

  #lookAfter(ms: number): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#looking = this.#look();
    }, ms);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    try {
      await this.run((client) => client.query("SELECT 1"));
      const isNew = this.#isNew;
      this.#isNew = false;
      await Promise.all([...this.#onLook].map((act) => act(isNew)));
      this.#lookAfter(LOOK_MS);
    } catch {
      this.#isNew = true;
      this.#lookAfter(RECONNECT_MS);
    }
  }
}

/** Lasting faults (a password, rights) are final; all else may pass. */
function toDatabaseError(error: unknown): SluiceError {
  const reason = postgresReason(error);
  if (isPassingInPostgres(error) || !isRefusal(error)) {
    const message = `PostgreSQL does not answer: ${reason}`;
    return new SluiceError("DISCONNECTED", message, { reason }, { cause: error });
  }
  const code = /^28/.test((error as { code: string }).code) ? "FORBIDDEN" : "INVALID";
  return new SluiceError(code, `PostgreSQL refuses: ${reason}`, { reason }, { cause: error });
}

function isRefusal(error: unknown): boolean {
  return /^(28|3D|3F|42)/.test((error as { code?: string } | undefined)?.code ?? "");
}
