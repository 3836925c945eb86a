import { SluiceError } from "@sluice/protocol";
import {
  checkKey,
  checkValue,
  closedRegistry,
  conflict,
  type Entry,
  isWatched,
  type Registry,
  type WatchedEntry,
} from "../registry/registry.ts";
import { DELETED_HOURS } from "./limits.ts";
import type { Notices, Statements } from "./notices.ts";
import { REGISTRY_CHANNEL } from "./schema.ts";

interface Row {
  readonly key: string;
  readonly value: string | null;
  readonly revision: number;
}

interface Watcher {
  readonly keys: readonly string[];
  readonly onEntry: (entry: WatchedEntry) => void;
  /** The revision of each key that was reported last. */
  readonly told: Map<string, number>;
}

const ROWS = "SELECT key, value, revision::float8 FROM sluice.registry WHERE cluster = $1";

/**
 * A registry in a table of PostgreSQL. A function of the database makes a change, so that it is one
 * statement: a process that is stopped in the middle holds no lock. A change notifies all nodes,
 * which read what is newer than what they know.
 */
export class PostgresRegistry implements Registry {
  readonly #statements: Statements;
  readonly #notices: Notices;
  readonly #cluster: string;
  readonly #watchers = new Set<Watcher>();
  readonly #ends: (() => void)[] = [];
  #listening: Promise<void> | undefined;
  #reading: Promise<void> = Promise.resolve();
  #isReadingAgain = false;
  #isClosed = false;

  /** Statements and notices stay the caller's. */
  constructor(statements: Statements, notices: Notices, cluster: string) {
    this.#statements = statements;
    this.#notices = notices;
    this.#cluster = cluster;
  }

  get(key: string): Promise<Entry | undefined> {
    return this.#call(key, async () => {
      const row = await this.#row(key);
      if (row === undefined || row.value === null) return undefined;
      return { value: row.value, revision: row.revision };
    });
  }

  create(key: string, value: string): Promise<number> {
    return this.#call(key, () => {
      checkValue(value);
      return this.#set(key, value, 0);
    });
  }

  update(key: string, value: string, revision: number): Promise<number> {
    return this.#call(key, async () => {
      checkValue(value);
      // 0 means that there is none.
      if (revision <= 0) throw conflict(key);
      return this.#set(key, value, revision);
    });
  }

  async delete(key: string, revision: number): Promise<void> {
    await this.#call(key, async () => {
      if (revision <= 0) throw conflict(key);
      await this.#set(key, null, revision);
      const text = `DELETE FROM sluice.registry WHERE cluster = $1 AND value IS NULL
        AND changed_at < clock_timestamp() - interval '${DELETED_HOURS} hours'`;
      await this.#statements.run((client) => client.query(text, [this.#cluster]));
    });
  }

  async watch(
    keys: readonly string[],
    onEntry: (entry: WatchedEntry) => void,
  ): Promise<() => void> {
    if (this.#isClosed) throw closedRegistry();
    const watcher: Watcher = { keys, onEntry, told: new Map() };
    this.#listening ??= this.#listen();
    try {
      await this.#listening;
      const rows = await this.#rows(`${ROWS} AND value IS NOT NULL ORDER BY revision`);
      for (const row of rows) tell(watcher, row);
    } catch (error) {
      this.#listening = undefined;
      throw error;
    }
    this.#watchers.add(watcher);
    // What changed since the list was read.
    void this.#read(false);
    return () => void this.#watchers.delete(watcher);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watchers.clear();
    for (const end of this.#ends.splice(0)) end();
    await this.#reading;
  }

  async #listen(): Promise<void> {
    const end = await this.#notices.listen(REGISTRY_CHANNEL, (cluster) => {
      if (cluster === this.#cluster) void this.#read(false);
    });
    this.#ends.push(end);
    this.#ends.push(this.#notices.onLook((isNew) => this.#read(isNew)));
  }

  /** Reads what is new, one read at a time; a notice during a read leads to one more. */
  #read(isAll: boolean): Promise<void> {
    if (this.#isReadingAgain && !isAll) return this.#reading;
    this.#isReadingAgain = true;
    this.#reading = this.#reading.then(async () => {
      this.#isReadingAgain = false;
      if (this.#isClosed || this.#watchers.size === 0) return;
      try {
        await (isAll ? this.#readAll() : this.#readNew());
      } catch {
        // The next look reads it.
      }
    });
    return this.#reading;
  }

  async #readNew(): Promise<void> {
    const watchers = [...this.#watchers];
    const known = Math.min(...watchers.map(newest));
    const rows = await this.#rows(`${ROWS} AND revision > $2 ORDER BY revision`, known);
    for (const row of rows) for (const watcher of watchers) tell(watcher, row);
  }

  /** Also tells of entries whose deletion is forgotten by now. */
  async #readAll(): Promise<void> {
    const watchers = [...this.#watchers];
    const rows = await this.#rows(`${ROWS} ORDER BY revision`);
    const keys = new Set(rows.map(({ key }) => key));
    const last = rows.at(-1)?.revision ?? 0;
    for (const watcher of watchers) {
      for (const row of rows) tell(watcher, row);
      for (const key of watcher.told.keys()) {
        if (!keys.has(key)) tell(watcher, { key, value: null, revision: last });
      }
    }
  }

  async #rows(text: string, ...values: unknown[]): Promise<Row[]> {
    const answer = await this.#statements.run((client) =>
      client.query({ text, values: [this.#cluster, ...values] }),
    );
    return answer.rows;
  }

  async #row(key: string): Promise<Row | undefined> {
    return (await this.#rows(`${ROWS} AND key = $2`, key))[0];
  }

  async #set(key: string, value: string | null, revision: number): Promise<number> {
    const { rows } = await this.#statements.run((client) =>
      client.query({
        name: "registry-set",
        text: "SELECT sluice.registry_set($1, $2, $3, $4)::float8 AS revision",
        values: [this.#cluster, key, value, revision],
      }),
    );
    const next: number | null = rows[0].revision;
    if (next === null) throw conflict(key);
    return next;
  }

  async #call<T>(key: string, act: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closedRegistry();
    checkKey(key);
    try {
      return await act();
    } catch (error) {
      if (error instanceof SluiceError) error.details.key ??= key;
      throw error;
    }
  }
}

function newest({ told }: Watcher): number {
  return told.get(NEWEST) ?? 0;
}

/** No key has this form. */
const NEWEST = ".";

function tell({ keys, onEntry, told }: Watcher, { key, value, revision }: Row): void {
  if (revision > (told.get(NEWEST) ?? 0)) told.set(NEWEST, revision);
  const last = told.get(key);
  if (!isWatched(key, keys) || revision <= (last ?? 0)) return;
  // One that was deleted before the watch began was never there for it.
  if (value === null && last === undefined) return;
  told.set(key, revision);
  onEntry({ key, value: value ?? undefined, revision });
}
