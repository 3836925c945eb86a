// A scheduler on a fake clock, with indexers whose answers the test gives, and a record of all.
import type { TestContext } from "node:test";
import { FakeClock, Sluice } from "sluice";
import { type SchedulerOptions, SearchScheduler } from "../scheduler/scheduler.ts";
import type { Completion, Exec, Indexer, SubmitOptions } from "../scheduler/submission.ts";
import type { Folder } from "./folder.ts";

interface Started {
  indexer: string;
  params: unknown;
  atMs: number;
}

export class Rig {
  readonly clock: FakeClock;
  readonly startedAt: number;
  sluice!: Sluice;
  scheduler!: SearchScheduler<unknown, string>;
  readonly started: Started[] = [];
  readonly completions: (Completion<string> & { atMs: number })[] = [];
  readonly done: string[] = [];
  readonly errors: unknown[] = [];
  // One line per callback, in the order of the calls.
  readonly calls: string[] = [];
  // How long a request takes, and what comes of it.
  tookMs = 0;
  answer: Exec<unknown, string> = () => ({ results: ["a"] });

  private constructor(clock: FakeClock) {
    this.clock = clock;
    this.startedAt = clock.now();
  }

  // Closed with the test, however it ends.
  static async open(
    t: TestContext,
    options: Partial<SchedulerOptions<unknown, string>> = {},
  ): Promise<Rig> {
    const rig = new Rig(new FakeClock());
    t.after(() => rig.close());
    rig.sluice = await Sluice.open({ durability: "memory", clock: rig.clock });
    await rig.start(rig.sluice, options);
    return rig;
  }

  // On disk; closed with the folder.
  static async openIn(
    folder: Folder,
    clock: FakeClock,
    options: Partial<SchedulerOptions<unknown, string>> = {},
  ): Promise<Rig> {
    const rig = new Rig(clock);
    folder.closing.unshift(() => rig.close());
    rig.sluice = await Sluice.open({ dir: folder.dir, durability: "os", clock });
    await rig.start(rig.sluice, options);
    return rig;
  }

  async start(sluice: Sluice, options: Partial<SchedulerOptions<unknown, string>>): Promise<void> {
    this.scheduler = await SearchScheduler.open<unknown, string>({
      sluice,
      clock: this.clock,
      exec: (...call) => this.#exec(...call),
      onError: (error) => this.errors.push(error),
      ...options,
    });
  }

  submit(options: Partial<SubmitOptions<unknown, string>> = {}): string {
    return this.scheduler.submit({
      indexers: [indexer("a")],
      params: { q: "x" },
      onComplete: (completion) => this.#completed(completion),
      onJobDone: (id) => {
        this.done.push(id);
        this.calls.push("done");
      },
      ...options,
    });
  }

  get atMs(): number {
    return this.clock.now() - this.startedAt;
  }

  get statuses(): string[] {
    return this.completions.map(({ indexer: { id }, status }) => `${id} ${status}`);
  }

  // Who was asked when, in milliseconds since the rig was opened.
  get requests(): string[] {
    return this.started.map(({ indexer: id, atMs }) => `${id} ${atMs}`);
  }

  async close(): Promise<void> {
    await this.scheduler.stop({ timeout: 0 });
    await this.sluice.close();
  }

  #completed(completion: Completion<string>): void {
    this.completions.push({ ...completion, atMs: this.atMs });
    this.calls.push(`${completion.indexer.id} ${completion.status}`);
  }

  async #exec(...[one, params, context]: Parameters<Exec<unknown, string>>) {
    this.started.push({ indexer: one.id, params, atMs: this.atMs });
    if (this.tookMs > 0) await this.pass(this.tookMs, context.signal);
    return this.answer(one, params, context);
  }

  // Waits by the fake clock, and no longer than the signal lets it.
  pass(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.clock.at(this.clock.now() + ms, resolve);
      signal?.addEventListener("abort", () => {
        timer.cancel();
        reject(signal.reason);
      });
    });
  }
}

export function indexer(id: string, limits: Partial<Indexer> = {}): Indexer {
  return { id, name: `Indexer ${id}`, ...limits };
}
