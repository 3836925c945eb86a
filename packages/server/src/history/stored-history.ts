/**
 * A range of the history that is kept over a restart, in a reserved store: an entry for each
 * moment, with the points of the queues in which something happened. Moments are at whole
 * multiples of the range's interval, so the nodes of a cluster write each of them once.
 */
import {
  type Broker,
  type PageStart,
  type QueueInfo,
  type QueueTimes,
  walkPages,
} from "@sluice/protocol";
import { HISTORY_STORE } from "../keys/rights.ts";
import { HISTORY_RANGE_QUEUES_MAX, HISTORY_STORED_QUEUES_MAX } from "../limits.ts";
import { type Moment, QueueHistories } from "./queue-histories.ts";
import { type Point, SERIES } from "./queue-series.ts";

const SCAN = 100;
const DIGITS = 14;

/** As it is stored: the lines of each queue in their order. */
type Stored = Readonly<Record<string, readonly number[]>>;

export interface RangeOptions {
  readonly everyMs: number;
  readonly points: number;
}

export class StoredHistory {
  readonly histories: QueueHistories;
  readonly #name: string;
  readonly #options: RangeOptions;
  #at = 0;
  #isRead = false;

  constructor(name: string, options: RangeOptions) {
    this.#name = name;
    this.#options = options;
    this.histories = new QueueHistories(options.everyMs, options.points, HISTORY_RANGE_QUEUES_MAX);
  }

  /** Takes a moment down when its time has come. */
  async note(
    broker: Broker,
    now: number,
    queues: readonly QueueInfo[],
    times: readonly QueueTimes[],
    missing?: readonly number[],
  ): Promise<void> {
    const { everyMs, points } = this.#options;
    const at = Math.floor(now / everyMs) * everyMs;
    if (at <= this.#at) return;
    if (!this.#isRead) await this.#read(broker, at);
    this.#at = at;
    this.histories.record(at, queues, times, missing);
    const key = this.#keyOf(at);
    const [known] = await broker.storeGet(HISTORY_STORE, [key]);
    if (known !== undefined) return;
    const value = storedOf(this.histories.moment(HISTORY_STORED_QUEUES_MAX));
    const old = { key: this.#keyOf(at - points * everyMs), value: undefined };
    await broker.storeWrite(HISTORY_STORE, [{ key, value }, old]);
  }

  /** What was written before the restart; what is too old, since the server was down, goes. */
  async #read(broker: Broker, now: number): Promise<void> {
    const { everyMs, points } = this.#options;
    const first = this.#keyOf(now - points * everyMs);
    const old: string[] = [];
    const prefix = `${this.#name}:`;
    const ask = (from: PageStart) =>
      broker.storeScan(HISTORY_STORE, { prefix, limit: SCAN, ...from });
    for await (const { key, value } of walkPages(ask)) {
      const at = Number(key.slice(prefix.length));
      if (key <= first) old.push(key);
      else if (at < now) this.histories.restore(at, momentOf(value as Stored));
    }
    this.#isRead = true;
    const gone = old.map((key) => ({ key, value: undefined }));
    if (gone.length > 0) await broker.storeWrite(HISTORY_STORE, gone);
  }

  #keyOf(at: number): string {
    return `${this.#name}:${String(Math.max(0, at)).padStart(DIGITS, "0")}`;
  }
}

function storedOf(moment: Moment): Stored {
  const queues = Object.entries(moment);
  return Object.fromEntries(
    queues.map(([name, point]) => [name, SERIES.map((line) => point[line])]),
  );
}

function momentOf(stored: Stored): Moment {
  const queues = Object.entries(stored);
  return Object.fromEntries(
    queues.map(([name, values]) => {
      const lines = SERIES.map((line, i) => [line, values[i] ?? 0]);
      return [name, Object.fromEntries(lines) as Point];
    }),
  );
}
