/**
 * Who did what and when, in a reserved store on the same log as the jobs. The entry is handed to
 * the broker before the action is, so a broker has both in one commit and no action is without
 * its entry. An action that was refused gets its refusal added. When the entry cannot be stored,
 * the action is still done: on a bad day an operator needs it.
 */
import { randomBytes } from "node:crypto";
import {
  type Broker,
  type Clock,
  type Page,
  type PageStart,
  SluiceError,
  type StoreEntry,
  toSluiceError,
  walkPages,
  wallTime,
} from "@sluice/protocol";
import { every } from "../every.ts";
import type { Principal } from "../keys/principal.ts";
import { AUDIT_STORE } from "../keys/rights.ts";
import {
  AUDIT_DETAIL_CHARS_MAX,
  AUDIT_ENTRIES_MAX,
  AUDIT_ON_CHARS_MAX,
  AUDIT_REPEAT_MS,
  AUDIT_TRIM_EVERY,
  AUDIT_TRIM_MS,
} from "../limits.ts";

/** How an action came: by the page, the command line, or another program. */
export type Via = "page" | "command" | "http" | "stream";

export interface AuditAction {
  /** The call, such as `purge` or `createKey`. */
  readonly action: string;
  /** The queue, gate, job, key or other thing that it is about. */
  readonly on: string;
  /** Its arguments and options as JSON, without payloads. */
  readonly detail: string;
}

export interface AuditEntry extends AuditAction {
  readonly id: string;
  readonly at: number;
  /** The id of the key, or the user of another server. */
  readonly who: string;
  /** The name of the key. */
  readonly name?: string;
  readonly via: Via;
  /** The same action by the same key within a second is counted. */
  times: number;
  /** How many of these were refused; absent: none. */
  refused?: number;
  /** Why the last of them was refused. */
  error?: string;
}

/** The callers of one request or stream. */
export interface AuditCaller {
  readonly principal: Principal;
  readonly via: Via;
}

export interface AuditOptions {
  readonly ready: () => Broker;
  readonly clock: Clock;
  readonly closing: AbortSignal;
  readonly onTrouble: (message: string) => void;
}

export interface AuditQuery {
  readonly limit?: number;
  readonly cursor?: string;
  /** Part of who, what or on what, in upper or lower case. */
  readonly text?: string;
}

const SCAN = 500;
const TIME_MAX = 8.64e15;
const TIME_DIGITS = 11;
const ID_BYTES = 4;

export class AuditLog {
  readonly #options: AuditOptions;
  /** The last entry of each caller, action and thing, while a repetition is counted in it. */
  readonly #recent = new Map<string, AuditEntry>();
  #made = 0;

  constructor(options: AuditOptions) {
    this.#options = options;
    const { clock, closing } = options;
    const trim = () => this.trim().catch(() => undefined);
    closing.addEventListener("abort", every(clock, AUDIT_TRIM_MS, trim), { once: true });
  }

  /** Does something, with an entry about it. */
  async record<T>(caller: AuditCaller, action: AuditAction, act: () => Promise<T>): Promise<T> {
    const { entry, isNew } = this.#entryOf(caller, action);
    // While the stored entry says that all were refused, what may be done now must not wait.
    const stored = isNew || entry.refused !== undefined ? this.#write(entry) : undefined;
    try {
      return await act();
    } catch (error) {
      const { code, message } = toSluiceError(error);
      entry.error = cut(`${code}: ${message}`, AUDIT_DETAIL_CHARS_MAX);
      entry.refused = (entry.refused ?? 0) + 1;
      await stored;
      await this.#write(entry);
      throw error;
    } finally {
      await stored;
    }
  }

  #entryOf(caller: AuditCaller, told: AuditAction): { entry: AuditEntry; isNew: boolean } {
    const { principal, via } = caller;
    const action = {
      action: told.action,
      on: cut(told.on, AUDIT_ON_CHARS_MAX),
      detail: cut(told.detail, AUDIT_DETAIL_CHARS_MAX),
    };
    const name = [principal.id, via, action.action, action.on, action.detail].join("\0");
    const known = this.#recent.get(name);
    if (known !== undefined) {
      known.times++;
      return { entry: known, isNew: false };
    }
    const at = wallTime(this.#options.clock);
    const entry: AuditEntry = {
      id: idAt(at),
      at,
      who: principal.id,
      ...(principal.name === undefined ? {} : { name: principal.name }),
      via,
      ...action,
      times: 1,
    };
    this.#recent.set(name, entry);
    const { clock } = this.#options;
    const timer = clock.at(clock.now() + AUDIT_REPEAT_MS, () => {
      const isOpen = this.#recent.delete(name);
      if (isOpen && entry.times > 1) void this.#write(entry);
    });
    timer.unref?.();
    if (++this.#made % AUDIT_TRIM_EVERY === 0) this.trim().catch(() => undefined);
    return { entry, isNew: true };
  }

  async #write({ id, ...value }: AuditEntry): Promise<void> {
    try {
      await this.#options.ready().storeWrite(AUDIT_STORE, [{ key: id, value }]);
    } catch (error) {
      const { who, action, on } = value;
      const { message } = error as Error;
      this.#options.onTrouble(`audit: ${action} of ${on} by ${who} is not stored: ${message}`);
    }
  }

  /** Stores what was counted since. */
  async close(): Promise<void> {
    const counted = [...this.#recent.values()].filter(({ times }) => times > 1);
    this.#recent.clear();
    await Promise.all(counted.map((entry) => this.#write(entry)));
  }

  /** The newest first. */
  async list({ limit = 100, cursor, text = "" }: AuditQuery): Promise<Page<AuditEntry>> {
    const wanted = text.toLowerCase();
    const items: AuditEntry[] = [];
    for await (const entry of this.#entries(cursor)) {
      if (items.length === limit) return { items, cursor: items.at(-1)!.id };
      if (textOf(entry).includes(wanted)) items.push(entry);
    }
    return { items };
  }

  async *#entries(after: string | undefined): AsyncGenerator<AuditEntry> {
    const ask = (from: PageStart): Promise<Page<StoreEntry>> => {
      const start = "cursor" in from || after === undefined ? from : { cursor: after };
      return this.#options.ready().storeScan(AUDIT_STORE, { limit: SCAN, ...start });
    };
    for await (const { key, value } of walkPages(ask)) {
      yield { id: key, ...(value as Omit<AuditEntry, "id">) };
    }
  }

  /**
   * Forgets the oldest beyond the bound, of those callers that have the most: no caller pushes out
   * the entries of others with a loop of refused calls.
   */
  async trim(): Promise<void> {
    const byCaller = new Map<string, string[]>();
    for await (const { id, who } of this.#entries(undefined)) {
      const ids = byCaller.get(who);
      if (ids === undefined) byCaller.set(who, [id]);
      else ids.push(id);
    }
    const lists = [...byCaller.values()];
    const share = shareOf(lists.map(({ length }) => length));
    const old = lists.flatMap((ids) => ids.slice(share));
    const broker = this.#options.ready();
    for (let i = 0; i < old.length; i += SCAN) {
      const entries = old.slice(i, i + SCAN).map((key) => ({ key, value: undefined }));
      await broker.storeWrite(AUDIT_STORE, entries);
    }
  }
}

/** How many each caller may keep, so that all together are within the bound. */
function shareOf(counts: readonly number[]): number {
  let left = AUDIT_ENTRIES_MAX;
  for (const [i, count] of counts.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (counts.length - i));
    if (count > share) return share;
    left -= count;
  }
  return AUDIT_ENTRIES_MAX;
}

/** Later ids are smaller: a scan of the store begins with the newest. */
function idAt(at: number): string {
  const time = Math.round(TIME_MAX - at)
    .toString(36)
    .padStart(TIME_DIGITS, "0");
  return `${time}.${randomBytes(ID_BYTES).toString("hex")}`;
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

function textOf({ who, name = "", via, action, on, error = "" }: AuditEntry): string {
  return [who, name, via, action, on, error].join(" ").toLowerCase();
}

/** Only those who run all of it may read who did what. */
export function refuseAudit(): SluiceError {
  return new SluiceError("FORBIDDEN", "the audit log needs the permission admin on everything", {
    needs: "admin",
    on: "*",
  });
}
