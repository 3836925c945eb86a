import { hash } from "node:crypto";
import {
  type BulkAction,
  type BulkInfo,
  type BulkOptions,
  type JobFilter,
  SluiceError,
} from "@sluice/protocol";
import type { EventFeed } from "../events.ts";
import type { Features } from "../features.ts";
import { FindCalls } from "../find.ts";
import { BULKS_KEPT, BULKS_RUNNING_MAX } from "../limits.ts";
import { BULK_STORE, type BulkRecord, infoOf, newRecord } from "./bulk-record.ts";
import { type BulkParts, BulkRun } from "./bulk-run.ts";

interface BulkCallsParts extends BulkParts {
  readonly feed: EventFeed;
  readonly features: Features;
}

/** Jobs are deleted, and go to other queues, by facts of this level. */
const BULK_LEVEL = 2;

/** The calls that act on many jobs at once. Those that a crash has cut off go on at the opening. */
export class BulkCalls {
  readonly #of: BulkCallsParts;
  readonly #find: FindCalls;
  readonly #runs = new Map<string, BulkRun>();

  constructor(of: BulkCallsParts) {
    this.#of = of;
    this.#find = new FindCalls(of);
    for (const record of this.#records()) if (record.state === "running") this.#run(record);
  }

  async startBulk(
    action: BulkAction,
    filter: JobFilter,
    options: BulkOptions = {},
  ): Promise<BulkInfo> {
    const { calls, features } = this.#of;
    const begun = newRecord(action, filter, options);
    features.need(BULK_LEVEL, "startBulk");
    const { to, operationId, dryRun = false } = options;
    if (to !== undefined) calls.call((engine) => engine.queueConfig(to));
    const { id: lastId, place: lastPlace } = calls.engine.queries.last;
    const matched = await this.#count(begun.filter);
    const counted = matched === undefined ? {} : { matched };
    if (dryRun) {
      const none = { id: "", state: "counted", startedAt: calls.now(), lastId, lastPlace } as const;
      return infoOf({ ...begun, ...counted, ...none });
    }
    const said = [action, filter, to, begun.payload];
    const info = await calls.changeOnce(
      "startBulk",
      { operationId },
      (engine, now) => {
        this.#refuseMany();
        const id = operationId === undefined ? this.#nextId() : idOf(operationId);
        const record = { ...begun, ...counted, id, startedAt: now, lastId, lastPlace };
        engine.stores.put(BULK_STORE, id, record, now);
        this.#forgetOld(now);
        return infoOf(record);
      },
      ...said,
    );
    const record = this.#record(info.id);
    // A call that was made again finds it under way, or done.
    if (record.state === "running" && !this.#runs.has(info.id)) this.#run(record);
    return info;
  }

  /** Undefined where payloads would have to be read: that is done once, by the action itself. */
  async #count(filter: JobFilter): Promise<number | undefined> {
    const isScan = filter.text !== undefined || filter.header !== undefined;
    return isScan ? undefined : (await this.#find.countJobs(filter)).count;
  }

  async bulk(id: string): Promise<BulkInfo> {
    this.#of.calls.check();
    return infoOf(this.#record(id));
  }

  async bulks(): Promise<readonly BulkInfo[]> {
    this.#of.calls.check();
    return this.#records().map(infoOf);
  }

  async stopBulk(id: string): Promise<BulkInfo> {
    this.#of.calls.check();
    const run = this.#runs.get(id);
    if (run === undefined) return infoOf(this.#record(id));
    run.isStopped = true;
    await run.over;
    return infoOf(this.#record(id));
  }

  #run(record: BulkRecord): void {
    const run = new BulkRun(this.#of, record);
    this.#runs.set(record.id, run);
    this.#tell(record);
    run.begin().then(
      () => {
        this.#runs.delete(record.id);
        this.#tell(run.record);
      },
      // The broker is closed, or its log has failed: the action continues at the next opening.
      () => this.#runs.delete(record.id),
    );
  }

  #tell({ id: bulk, action, state, done, refused, by }: BulkRecord): void {
    const { calls, feed, journal } = this.#of;
    if (!feed.isHeard) return;
    const said = { bulk, action, state, done, refused, ...(by === undefined ? {} : { by }) };
    journal.whenDurable(() => feed.tell({ at: calls.now(), event: "bulk", ...said }));
  }

  /** The newest first. */
  #records(): BulkRecord[] {
    const found = this.#of.calls.engine.stores.scan(BULK_STORE, { limit: 10 * BULKS_KEPT });
    const records = found.map(([, value]) => value as BulkRecord);
    return records.sort((a, b) => b.startedAt - a.startedAt || b.lastPlace - a.lastPlace);
  }

  #record(id: string): BulkRecord {
    const record = this.#of.calls.engine.stores.get(BULK_STORE, id) as BulkRecord | undefined;
    if (record !== undefined) return record;
    const message = `there is no bulk action ${JSON.stringify(id)}; the last ${BULKS_KEPT} are kept`;
    throw new SluiceError("NOT_FOUND", message, { field: "id", value: id });
  }

  #refuseMany(): void {
    if (this.#runs.size < BULKS_RUNNING_MAX) return;
    const message = `${this.#runs.size} bulk actions are running: wait for one, or stop it`;
    throw new SluiceError("CONFLICT", message, {});
  }

  #nextId(): string {
    for (let number = this.#records().length + 1; ; number++) {
      const id = `b${number}`;
      if (this.#of.calls.engine.stores.get(BULK_STORE, id) === undefined) return id;
    }
  }

  #forgetOld(now: number): void {
    const { engine } = this.#of.calls;
    const ended = this.#records().filter(({ state }) => state !== "running");
    for (const { id } of ended.slice(BULKS_KEPT)) engine.stores.delete(BULK_STORE, id, now);
  }
}

/** In a cluster all partitions have the same operation id, and so the same name for it. */
function idOf(operationId: string): string {
  return `b${hash("sha256", operationId, "hex").slice(0, 12)}`;
}
