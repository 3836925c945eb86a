import { type Clock, SluiceError } from "@sluice/protocol";
import {
  BATCH_BYTES,
  BATCH_JOBS,
  KILLED_MS,
  PROVEN_MS,
  QUESTIONS_MAX,
  SCRIPT_WAIT_MS,
  THREADS_MAX,
} from "../../limits.ts";
import { type Answer, decodeAnswers, encodeBatch, type Question, questionBytes } from "./batch.ts";
import type { FromThread, Hook } from "./messages.ts";
import { Patience } from "./patience.ts";
import type { Script } from "./script.ts";
import { type ConfigSource, Thread } from "./thread.ts";
import { TimeShares } from "./time-shares.ts";

/** How long an add should stay away when more ask than the threads can answer. */
const BUSY_RETRY_MS = 250;

/** There is no answer: the queue uses its templates and defaults. */
const NOTHING: Answer = Object.freeze({});

/** What one caller asks, and the answers that it has so far. */
interface Ask {
  readonly line: Line;
  readonly answers: Answer[];
  readonly count: number;
  readonly resolve: (answers: Answer[]) => void;
  /** It was answered, or has waited too long. */
  isOver: boolean;
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
  /** It has its place among those that wait for a turn. */
  isWaiting: boolean;
  isUnderWay: boolean;
}

/**
 * The threads that ask scripts about jobs, and what waits for them. Questions to one script gather
 * while a batch of it is under way. Scripts take turns by the processor time that they use. No
 * question waits for longer than `SCRIPT_WAIT_MS`. No thread is started before there is a script.
 *
 * A script that is unproven (it has never run, or its thread was ended) may be about to cost a
 * thread. While proven ones are in use, one thread is theirs: they need not wait for that.
 */
export class Pool {
  readonly #clock: Clock;
  readonly #config: ConfigSource;
  readonly #threads = new Set<Thread>();
  readonly #lines = new Map<string, Line>();
  readonly #turns = new TimeShares<Line>(({ script }) => script.share);
  readonly #patience: Patience<Ask>;
  #count = 0;
  #unproven = 0;
  /** When a proven script ran last. */
  #provenAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(clock: Clock, config: ConfigSource) {
    this.#clock = clock;
    this.#config = config;
    this.#patience = new Patience(clock, SCRIPT_WAIT_MS, (ask) => this.#giveUp(ask));
  }

  get threads(): number {
    return this.#threads.size;
  }

  refuseIfFull(): void {
    if (this.#count < QUESTIONS_MAX) return;
    const message = `${this.#count} jobs wait for the scripts of their queues; retry later`;
    throw new SluiceError("RATE_LIMITED", message, { retryAfterMs: BUSY_RETRY_MS });
  }

  /** Starts a thread, if there is none, so that the first job need not wait for it. */
  async warmUp(): Promise<void> {
    if (this.#isClosed) return;
    const [thread = this.#newThread()] = this.#threads;
    await thread.started;
  }

  /** Asks a script about jobs. It always answers: with nothing when it cannot. */
  ask(script: Script, hook: Hook, questions: readonly Question[]): Promise<Answer[]> {
    if (this.#isClosed || questions.length === 0) {
      return Promise.resolve(questions.map(() => NOTHING));
    }
    const { promise, resolve } = Promise.withResolvers<Answer[]>();
    const line = this.#lineOf(script, hook);
    const ask: Ask = { line, answers: [], count: questions.length, resolve, isOver: false };
    for (const question of questions) line.waiting.push({ question, ask });
    this.#count += questions.length;
    this.#patience.add(ask);
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
    this.#patience.stop();
    const ends = [...this.#threads].map((thread) => thread.end("the broker is closed"));
    for (const line of this.#turns.clear()) this.#settle(line, line.waiting.length, []);
    await Promise.all(ends);
  }

  #lineOf(script: Script, hook: Hook): Line {
    const key = keyOf(script, hook);
    const known = this.#lines.get(key);
    if (known !== undefined) return known;
    const line = { script, hook, waiting: [], isWaiting: false, isUnderWay: false };
    this.#lines.set(key, line);
    return line;
  }

  #takeTurn(line: Line): void {
    if (this.#isClosed) this.#settle(line, line.waiting.length, []);
    if (line.isUnderWay || line.waiting.length === 0 || line.isWaiting) return;
    line.isWaiting = true;
    this.#turns.add(line);
  }

  /** Gives work to threads that rest, and starts one when all work. */
  #next(): void {
    for (;;) {
      // One thread is for proven scripts while they are in use.
      const isKept = this.#clock.now() - this.#provenAt < PROVEN_MS;
      const onlyProven = this.#unproven >= (isKept ? THREADS_MAX - 1 : THREADS_MAX);
      if (this.#turns.isEmpty(onlyProven) || !this.#hasRoom()) return;
      const line = this.#turns.next(onlyProven)!;
      line.isWaiting = false;
      this.#start(this.#threadFor(line, isKept), line);
    }
  }

  #hasRoom(): boolean {
    if (this.#threads.size < THREADS_MAX) return !this.#isClosed;
    return this.#idle() !== undefined;
  }

  #idle(): Thread | undefined {
    for (const thread of this.#threads) if (!thread.isBusy) return thread;
    return undefined;
  }

  /** One that has nothing to do; a kept one is not given to a script that may cost it. */
  #threadFor({ script }: Line, isKept: boolean): Thread {
    const mayStart = this.#threads.size < THREADS_MAX;
    if (mayStart && isKept && !script.share.isProven) return this.#newThread();
    return this.#idle() ?? this.#newThread();
  }

  #newThread(): Thread {
    const thread = new Thread(() => {
      this.#threads.delete(thread);
      queueMicrotask(() => this.#next());
    });
    this.#threads.add(thread);
    return thread;
  }

  #start(thread: Thread, line: Line): void {
    const { script, waiting } = line;
    if (script.breaker.isOpen || this.#isClosed) return this.#settle(line, waiting.length, []);
    // All of it may have been given up since.
    if (waiting.length === 0) return;
    const isUnproven = !script.share.isProven;
    if (isUnproven) this.#unproven++;
    line.isUnderWay = true;
    void this.#run(thread, line).finally(() => {
      if (isUnproven) this.#unproven--;
      if (script.share.isProven) this.#provenAt = this.#clock.now();
      line.isUnderWay = false;
      this.#dropOver(line);
      this.#takeTurn(line);
      this.#next();
    });
  }

  async #run(thread: Thread, line: Line): Promise<void> {
    const { script, hook, waiting } = line;
    const count = batchCount(waiting);
    const questions = waiting.slice(0, count).map(({ question }) => question);
    try {
      const reply = await thread.send(this.#message(thread, script, hook, questions));
      this.#settleReply(line, count, reply);
    } catch (error) {
      // The thread is over, and with it the batch.
      if (!this.#isClosed) script.hearKilled(KILLED_MS, count, (error as Error).message);
      this.#settle(line, count, []);
    }
  }

  #message(thread: Thread, script: Script, hook: Hook, questions: readonly Question[]) {
    const { id, queue, source } = script;
    const isNew = !thread.scripts.has(id);
    thread.scripts.add(id);
    return {
      kind: "run" as const,
      id,
      script: isNew ? { id, queue, source } : undefined,
      batch: encodeBatch(hook, questions, script.breaker.failures),
      config: thread.newConfig(this.#config),
    };
  }

  #settleReply(line: Line, count: number, reply: FromThread): void {
    if (reply.kind === "answers") line.script.used(reply.usedMs);
    const answers = readReply(reply, line.script, line.hook, count);
    // One failure, whose jobs all go on without the script.
    if ("problem" in answers) this.#settle(line, count, [answers]);
    else this.#settle(line, answers.length, answers);
  }

  /** Answers the first `count` that wait; what has no answer of its own gets nothing. */
  #settle(line: Line, count: number, answers: readonly Answer[]): void {
    const settled = line.waiting.splice(0, count);
    this.#count -= settled.length;
    for (const [i, { ask }] of settled.entries()) {
      const answer = answers[i];
      if (answer !== undefined) line.script.hear(answer);
      if (ask.isOver) continue;
      ask.answers.push(answer === undefined || answer.problem !== undefined ? NOTHING : answer);
      if (ask.answers.length === ask.count) end(ask);
    }
  }

  /** It has waited long enough: what is not answered by now gets nothing. */
  #giveUp(ask: Ask): void {
    const missing = ask.count - ask.answers.length;
    for (let i = 0; i < missing; i++) ask.answers.push(NOTHING);
    end(ask);
    ask.line.script.hearLate(missing);
    if (!ask.line.isUnderWay) this.#dropOver(ask.line);
  }

  /** What was given up does not wait any more. Asks end in their order, so it comes first. */
  #dropOver({ waiting }: Line): void {
    let over = 0;
    while (waiting[over]?.ask.isOver === true) over++;
    waiting.splice(0, over);
    this.#count -= over;
  }
}

function end(ask: Ask): void {
  ask.isOver = true;
  ask.resolve(ask.answers);
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

/** The answers in a reply, one at least, or why the script could not be run. */
function readReply(
  reply: FromThread,
  script: Script,
  hook: Hook,
  count: number,
): Answer[] | { problem: string } {
  if (reply.kind !== "answers") return { problem: `the thread answered with ${reply.kind}` };
  if (reply.problem !== undefined) return { problem: reply.problem };
  script.learn(reply.hooks);
  if (!script.mayHave(hook)) return Array.from({ length: count }, () => NOTHING);
  const answers = decodeAnswers(reply.answers);
  return answers.length === 0 ? { problem: "the script answered nothing" } : answers;
}
