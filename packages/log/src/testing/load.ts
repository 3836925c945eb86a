import assert from "node:assert/strict";
import type { Log, Position } from "../log.ts";
import { NatsLog } from "../nats/nats-log.ts";
import type { NatsLogOptions } from "../nats/options.ts";

/** What was confirmed to a writer, and what it had asked for: batches numbered from 0. */
export class AppendLoad {
  readonly #log: Log;
  readonly #sizeOf: (number: number) => number;
  readonly confirmed: Position[] = [];
  asked = 0;
  #isOver = false;
  #run: Promise<void>[] = [];
  #heard: (() => void)[] = [];

  constructor(log: Log, lanes: number, sizeOf: (number: number) => number = () => 2000) {
    this.#log = log;
    this.#sizeOf = sizeOf;
    this.#run = Array.from({ length: lanes }, () => this.#lane());
  }

  /** Resolves when as many more are confirmed. */
  async more(count: number): Promise<void> {
    const wanted = this.confirmed.length + count;
    const failed = this.#log.failed.then((error) => Promise.reject(error));
    const isThere = async (): Promise<void> => {
      while (this.confirmed.filter((position) => position !== undefined).length < wanted) {
        await new Promise<void>((resolve) => this.#heard.push(resolve));
      }
    };
    await Promise.race([isThere(), failed]);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#run);
  }

  async #lane(): Promise<void> {
    while (!this.#isOver) {
      const number = this.asked++;
      try {
        this.confirmed[number] = await this.#log.append(numbered(number, this.#sizeOf(number)));
      } catch {
        return;
      }
      for (const resolve of this.#heard.splice(0)) resolve();
    }
  }
}

export function numbered(number: number, sizeBytes: number): Uint8Array {
  const facts = Buffer.alloc(sizeBytes, number % 251);
  facts.writeUInt32LE(number);
  return facts;
}

/** Every confirmed batch is there once, at its confirmed position, and all are in order. */
export async function checkReplay(log: Log, { confirmed, asked }: AppendLoad): Promise<number> {
  let next = 0;
  for await (const { position, facts } of log.replay()) {
    const number = Buffer.from(facts).readUInt32LE();
    assert.equal(number, next, "a batch is missing, doubled or out of order");
    assert.equal(Buffer.compare(facts, numbered(number, facts.length)), 0);
    if (confirmed[number] !== undefined) assert.equal(position, confirmed[number]);
    next++;
  }
  assert.ok(next >= confirmed.length, `${next} of ${confirmed.length} confirmed batches are there`);
  assert.ok(next <= asked);
  return next;
}

export async function opened(options: NatsLogOptions): Promise<NatsLog> {
  const log = await NatsLog.open(options);
  for await (const _ of log.replay());
  return log;
}
