/** Facts into the log of one partition, a chunk to a batch. */
import type { Fact } from "@sluice/engine";
import type { Log } from "@sluice/log";
import { type Body, writeBody } from "../codec/body.ts";
import { ByteWriter } from "../codec/byte-writer.ts";
import { encodeFact } from "../codec/facts.ts";
import { CHUNK_BYTES_MAX } from "../limits.ts";

/** What is on its way into the log before the division waits for it. */
const WAITING_BYTES_MAX = 8 * CHUNK_BYTES_MAX;

export interface PartWritten {
  readonly batches: number;
  readonly factsBytes: number;
}

export class PartWriter {
  readonly #log: Pick<Log, "append">;
  readonly #writer = new ByteWriter((needBytes) => this.#more(needBytes));
  #waiting: Promise<unknown>[] = [];
  #waitingBytes = 0;
  #batches = 0;
  #factsBytes = 0;

  constructor(log: Pick<Log, "append">) {
    this.#log = log;
  }

  write(fact: Fact): void {
    encodeFact(this.#writer, fact, this.#writeBody);
  }

  /** Lets the log catch up with what was written. */
  async turn(): Promise<void> {
    if (this.#waitingBytes >= WAITING_BYTES_MAX) await this.#caughtUp();
  }

  /** All that was written is durable. */
  async end(): Promise<PartWritten> {
    this.#append(this.#writer.at);
    await this.#caughtUp();
    return { batches: this.#batches, factsBytes: this.#factsBytes };
  }

  readonly #writeBody = (writer: ByteWriter, body: unknown): void => {
    writeBody(writer, body as Body);
  };

  /** The batch ends where the fact began that does not fit. */
  #more(needBytes: number): Uint8Array {
    this.#append(this.#writer.start);
    return Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES_MAX, needBytes));
  }

  #append(to: number): void {
    if (to === 0) return;
    const appended = this.#log.append(this.#writer.bytes.subarray(0, to));
    // Its failure is reported when all of them are waited for.
    appended.catch(() => {});
    this.#waiting.push(appended);
    this.#waitingBytes += to;
    this.#factsBytes += to;
    this.#batches++;
  }

  async #caughtUp(): Promise<void> {
    const waiting = this.#waiting.splice(0);
    this.#waitingBytes = 0;
    await Promise.all(waiting);
  }
}
