/**
 * Reads documents in a thread of its own, one at a time. A document that takes too long, or too
 * much memory, costs its thread: it is ended, the document is refused, and the next one gets a new
 * thread.
 */
import { Worker } from "node:worker_threads";
import { PARSE_HEAP_MIB, PARSE_MS_MAX } from "../limits.ts";
import type { Document, XmlAnswer } from "./read-answer.ts";
import type { Release } from "./read-feed.ts";
import { XmlRefused } from "./refused.ts";
import type { More, Reply, Request } from "./thread/message.ts";

interface Job {
  readonly document: Document;
  readonly releases: Release[];
  readonly resolve: (answer: XmlAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** In the repository Node runs the sources; what is published has its files beside each other. */
const PROGRAM = import.meta.url.endsWith(".ts") ? "./thread/main.ts" : "./xml-thread.js";

export class XmlReader {
  readonly #parseMsMax: number;
  readonly #waiting: Job[] = [];
  #running: Job | undefined = undefined;
  #worker: Worker | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;
  #id = 0;
  #isClosed = false;

  constructor({ parseMsMax = PARSE_MS_MAX }: { parseMsMax?: number } = {}) {
    this.#parseMsMax = parseMsMax;
  }

  /**
   * The bytes are given away: they belong to the thread from now on. A signal ends the waiting; a
   * document that is being read is read to its end all the same.
   */
  read(document: Document, signal?: AbortSignal): Promise<XmlAnswer> {
    return new Promise((resolve, reject) => {
      const job: Job = { document, releases: [], resolve, reject };
      this.#waiting.push(job);
      signal?.addEventListener("abort", () => this.#leave(job, signal), { once: true });
      this.#next();
    });
  }

  #leave(job: Job, signal: AbortSignal): void {
    const at = this.#waiting.indexOf(job);
    if (at !== -1) this.#waiting.splice(at, 1);
    job.reject(signal.reason);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const left = [...this.#waiting.splice(0), ...(this.#running ? [this.#running] : [])];
    this.#running = undefined;
    clearTimeout(this.#timer);
    for (const job of left) job.reject(new XmlRefused("too_slow", "the reader was closed"));
    await this.#worker?.terminate();
  }

  #next(): void {
    if (this.#running !== undefined || this.#isClosed) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    this.#running = job;
    this.#worker ??= this.#start();
    this.#timer = setTimeout(() => this.#giveUp(), this.#parseMsMax);
    const { bytes, contentType, base } = job.document;
    // A piece of a shared pool cannot be given away.
    const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
    const request: Request = { id: ++this.#id, bytes: own, contentType, base };
    this.#worker.postMessage(request, [own.buffer as ArrayBuffer]);
  }

  #start(): Worker {
    const worker = new Worker(new URL(PROGRAM, import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: PARSE_HEAP_MIB },
    });
    worker.unref();
    worker.on("message", (reply: Reply) => this.#hear(reply));
    // Out of memory, most likely. Its end follows.
    worker.on("error", () => {});
    worker.on("exit", () => {
      if (this.#worker === worker) this.#lost("the document needs too much memory to be read");
    });
    return worker;
  }

  #hear(reply: Reply): void {
    if (reply.id !== this.#id || this.#running === undefined) return;
    const job = this.#running;
    if ("releases" in reply) {
      for (const release of reply.releases) job.releases.push(release);
      const more: More = { more: reply.id };
      this.#worker?.postMessage(more);
      return;
    }
    this.#finish();
    if ("refused" in reply) {
      job.reject(new XmlRefused(reply.refused.kind, reply.refused.message));
      return;
    }
    if (reply.answer.kind === "feed") reply.answer.feed.releases = job.releases;
    job.resolve(reply.answer);
  }

  #giveUp(): void {
    void this.#worker?.terminate();
    this.#lost("the document takes too long to read");
  }

  #lost(message: string): void {
    this.#worker = undefined;
    const job = this.#running;
    this.#finish();
    job?.reject(new XmlRefused("too_slow", message));
  }

  #finish(): void {
    clearTimeout(this.#timer);
    this.#running = undefined;
    this.#next();
  }
}
