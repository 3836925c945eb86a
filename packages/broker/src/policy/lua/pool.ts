import { SluiceError } from "@sluice/protocol";
import { BATCH_BYTES, BATCH_JOBS, QUESTIONS_MAX, THREADS_MAX } from "../limits.ts";
import { type Answer, decodeAnswers, encodeBatch, type Question, questionBytes } from "./batch.ts";
import type { FromThread, Hook } from "./messages.ts";
import type { Script } from "./script.ts";
import { Thread } from "./thread.ts";

/** How long an add should stay away when more ask than the threads can answer. */
const BUSY_RETRY_MS = 250;

/** Nobody was asked, or nobody answered: the queue goes on with what it has besides. */
const NOTHING: Answer = Object.freeze({});

/** What one caller asks, and the answers that it has so far. */
interface Ask {
  readonly answers: Answer[];
  readonly count: number;
  readonly resolve: (answers: Answer[]) => void;
}

/** A question and who asks it; those of one caller are answered in order. */
interface Waiting {
  readonly question: Question;
  readonly ask: Ask;
}

/** What waits for one hook of one script; one batch of it is under way at a time. */
interface Line {
  readonly script: Script;
  readonly hook: Hook;
  readonly waiting: Waiting[];
  isUnderWay: boolean;
}

/** Where the configuration comes from that scripts read. */
export interface ConfigSource {
  /** Rises with every change. */
  readonly version: number;
  bytes(): Uint8Array;
}

/**
 * The threads for scripts, and what waits for them. Questions to one script gather while a batch
 * of it is under way; scripts take turns. No thread is started before somebody asks.
 */
export class Pool {
  readonly #config: ConfigSource;
  readonly #threads = new Set<Thread>();
  readonly #lines = new Map<string, Line>();
  /** Lines that have something waiting and nothing under way. */
  readonly #turns: Line[] = [];
  readonly #checks: { script: Script; answer: PromiseWithResolvers<string> }[] = [];
  #count = 0;
  #isClosed = false;

  constructor(config: ConfigSource) {
    this.#config = config;
  }

  get threads(): number {
    return this.#threads.size;
  }

  /** More wait than the threads can soon answer. */
  get isFull(): boolean {
    return this.#count >= QUESTIONS_MAX;
  }

  refuseIfFull(): void {
    if (!this.isFull) return;
    const message = `${this.#count} jobs wait for the scripts of their queues`;
    throw new SluiceError("RATE_LIMITED", message, { retryAfterMs: BUSY_RETRY_MS });
  }

  /** Runs a program once; answers what hooks it has, or rejects with what is wrong with it. */
  check(script: Script): Promise<string> {
    if (this.#isClosed) return Promise.reject(closed());
    const answer = Promise.withResolvers<string>();
    this.#checks.push({ script, answer });
    this.#next();
    return answer.promise;
  }

  /** Asks a script about jobs. It always answers: with nothing when it cannot. */
  ask(script: Script, hook: Hook, questions: readonly Question[]): Promise<Answer[]> {
    if (this.#isClosed || questions.length === 0) {
      return Promise.resolve(questions.map(() => NOTHING));
    }
    const { promise, resolve } = Promise.withResolvers<Answer[]>();
    const ask: Ask = { answers: [], count: questions.length, resolve };
    const line = this.#lineOf(script, hook);
    for (const question of questions) line.waiting.push({ question, ask });
    this.#count += questions.length;
    this.#takeTurn(line);
    this.#next();
    return promise;
  }

  forget(script: Script): void {
    for (const thread of this.#threads) thread.forget(script.id);
    for (const hook of ["enqueue", "failure"] as const) this.#lines.delete(keyOf(script, hook));
  }

  /** Resolves when all threads are gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const ends = [...this.#threads].map((thread) => thread.end("the broker is closed"));
    for (const line of this.#turns.splice(0)) this.#settle(line, line.waiting.length, []);
    for (const { answer } of this.#checks.splice(0)) answer.reject(closed());
    await Promise.all(ends);
  }

  #lineOf(script: Script, hook: Hook): Line {
    const key = keyOf(script, hook);
    const line = this.#lines.get(key) ?? { script, hook, waiting: [], isUnderWay: false };
    this.#lines.set(key, line);
    return line;
  }

  #takeTurn(line: Line): void {
    if (this.#isClosed) this.#settle(line, line.waiting.length, []);
    if (line.isUnderWay || line.waiting.length === 0 || this.#turns.includes(line)) return;
    this.#turns.push(line);
  }

  /** Gives work to threads that rest, and starts one when all work. */
  #next(): void {
    while (this.#checks.length > 0 || this.#turns.length > 0) {
      const thread = this.#freeThread();
      if (thread === undefined) return;
      const check = this.#checks.shift();
      if (check !== undefined) void this.#check(thread, check.script, check.answer);
      else void this.#run(thread, this.#turns.shift()!);
    }
  }

  #freeThread(): Thread | undefined {
    for (const thread of this.#threads) if (!thread.isBusy) return thread;
    if (this.#threads.size >= THREADS_MAX || this.#isClosed) return undefined;
    const thread = new Thread(() => {
      this.#threads.delete(thread);
      queueMicrotask(() => this.#next());
    });
    this.#threads.add(thread);
    return thread;
  }

  async #check(thread: Thread, script: Script, answer: PromiseWithResolvers<string>) {
    const { id, queue, source } = script;
    try {
      const reply = await thread.send({ kind: "check", script: { id, queue, source } });
      if (reply.kind === "checked" && reply.problem === undefined) answer.resolve(reply.hooks);
      else answer.reject(new Error((reply as { problem: string }).problem));
    } catch (error) {
      answer.reject(this.#isClosed ? closed() : error);
    }
    this.#next();
  }

  async #run(thread: Thread, line: Line): Promise<void> {
    const { script, hook, waiting } = line;
    if (script.breaker.isOpen) return this.#settle(line, waiting.length, []);
    const count = batchCount(waiting);
    const questions = waiting.slice(0, count).map(({ question }) => question);
    line.isUnderWay = true;
    try {
      const reply = await thread.send(this.#message(thread, script, hook, questions));
      const answers = readReply(reply, script, hook, count);
      this.#settle(line, answers.length, answers);
    } catch (error) {
      // One failure, whose jobs all go on without the script.
      this.#settle(line, count, [{ problem: (error as Error).message }]);
    }
    line.isUnderWay = false;
    this.#takeTurn(line);
    this.#next();
  }

  #message(thread: Thread, script: Script, hook: Hook, questions: readonly Question[]) {
    const { id, queue, source } = script;
    const isNew = !thread.scripts.has(id);
    const hasChanged = thread.config !== this.#config.version;
    thread.scripts.add(id);
    thread.config = this.#config.version;
    return {
      kind: "run" as const,
      id,
      script: isNew ? { id, queue, source } : undefined,
      batch: encodeBatch(hook, questions, script.breaker.failures),
      config: hasChanged ? this.#config.bytes() : undefined,
    };
  }

  /** Answers the first `count` that wait; what has no answer of its own gets nothing. */
  #settle(line: Line, count: number, answers: readonly Answer[]): void {
    const settled = line.waiting.splice(0, count);
    this.#count -= settled.length;
    for (const [i, { ask }] of settled.entries()) {
      const answer = answers[i];
      if (answer !== undefined) line.script.hear(answer);
      ask.answers.push(answer === undefined || answer.problem !== undefined ? NOTHING : answer);
      if (ask.answers.length === ask.count) ask.resolve(ask.answers);
    }
  }
}

function closed(): SluiceError {
  return new SluiceError("CLOSED", "the broker is closed");
}

function keyOf(script: Script, hook: Hook): string {
  return `${script.id} ${hook}`;
}

/** How many of those who wait make one batch. */
function batchCount(waiting: readonly Waiting[]): number {
  let bytes = 0;
  let count = 0;
  for (const { question } of waiting) {
    bytes += questionBytes(question);
    if (count === BATCH_JOBS || (count > 0 && bytes > BATCH_BYTES)) break;
    count++;
  }
  return count;
}

/** The answers in a reply, one at least; throws when the script could not be run. */
function readReply(reply: FromThread, script: Script, hook: Hook, count: number): Answer[] {
  if (reply.kind !== "answers") throw new Error(`the thread answered with ${reply.kind}`);
  if (reply.problem !== undefined) throw new Error(reply.problem);
  script.learn(reply.hooks);
  if (!script.mayHave(hook)) return Array.from({ length: count }, () => NOTHING);
  const answers = decodeAnswers(reply.answers);
  if (answers.length === 0) throw new Error("the script answered nothing");
  return answers;
}
