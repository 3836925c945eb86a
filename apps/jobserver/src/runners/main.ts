// The program of a thread, or of a process, that runs users' handlers: one job at a time. Whatever
// a handler starts carries the number of its job along, so that what throws later, or ends the
// thread, is blamed on the job that caused it and not on the one that happens to run.
import { AsyncLocalStorage } from "node:async_hooks";
import { setPriority } from "node:os";
import { parentPort, Worker } from "node:worker_threads";
import type { JobHandlers } from "../handlers/handler.ts";
import { loadHandlers } from "../handlers/load.ts";
import { Board } from "./board.ts";
import type { Order, Report, RunOrder, Thrown } from "./message.ts";

type EndReport = Extract<Report, { report: "finished" | "failed" }>;

// How long a process lives on at most without its server.
const LOOK_MS = 1_000;

const current = new AsyncLocalStorage<number>();
const progresses = new Map<number, (error: string | undefined) => void>();
let handlers: JobHandlers = {};
let board: Board | undefined;
let running: { run: number; abort: AbortController } | undefined;
let progressCount = 0;

function send(report: Report): void {
  if (parentPort !== null) parentPort.postMessage(report);
  else process.send?.(report);
}

function hear(order: Order): void {
  switch (order.order) {
    case "load":
      if (order.board !== undefined) board = new Board(order.board);
      return void load(order.module, order.nice);
    case "run":
      return void work(order).then(send);
    case "list":
      return void workThrough(order.jobs, board!);
    case "abort":
      if (running?.run === order.run) running.abort.abort(new Error(order.reason));
      return;
    case "progressed":
      progresses.get(order.progress)?.(order.error);
      progresses.delete(order.progress);
  }
}

async function load(module: string, nice: number): Promise<void> {
  try {
    yieldTo(nice);
    handlers = await loadHandlers(module);
    send({ report: "ready", types: Object.keys(handlers) });
  } catch (error) {
    send({ report: "refused", message: (error as Error).message });
  }
}

// On Linux a thread has a priority of its own; elsewhere this would slow down the whole server.
function yieldTo(nice: number): void {
  if (nice === 0 || (parentPort !== null && process.platform !== "linux")) return;
  setPriority(0, nice);
}

/** The results stay on the board; a single message at the end reports them all. */
async function workThrough(jobs: readonly RunOrder[], results: Board): Promise<void> {
  results.open();
  for (const [place, job] of jobs.entries()) {
    if (!results.begin(place)) continue;
    const report = await work(job);
    if (report.report === "finished" && results.put(place, report)) continue;
    send(report);
    results.reported(place);
  }
  send({ report: "listed" });
}

function work(order: RunOrder): Promise<EndReport> {
  return current.run(order.run, () => handle(order));
}

async function handle({ run, type, args, uid, workerId }: RunOrder): Promise<EndReport> {
  const abort = new AbortController();
  const from = performance.now();
  running = { run, abort };
  try {
    const progress = (value: unknown): Promise<void> => tell(run, value);
    const context = { signal: abort.signal, uid, workerId, progress };
    const result = JSON.stringify(await handlers[type]!(args, context));
    return { report: "finished", run, result, tookMs: performance.now() - from };
  } catch (error) {
    return { report: "failed", run, thrown: thrownOf(error) };
  } finally {
    running = undefined;
  }
}

function tell(run: number, value: unknown): Promise<void> {
  const progress = ++progressCount;
  const told = new Promise<void>((resolve, reject) => {
    progresses.set(progress, (error) =>
      error === undefined ? resolve() : reject(new Error(error)),
    );
  });
  // A handler that does not wait for the answer must not fail by it.
  told.catch(() => {});
  send({ report: "progress", run, progress, value: JSON.parse(JSON.stringify(value ?? null)) });
  return told;
}

function thrownOf(error: unknown): Thrown {
  if (!(error instanceof Error)) return { name: "Error", message: textOf(error) };
  const { name, message, stack } = error;
  const { delay, gate, reason } = error as { delay?: unknown; gate?: unknown; reason?: unknown };
  const thrown = { name: String(name), message: String(message), stack: String(stack) };
  if (name !== "RetryAfter" || typeof delay !== "number") return thrown;
  const wait = {
    delay,
    ...(typeof gate === "string" ? { gate } : {}),
    ...(typeof reason === "string" ? { reason } : {}),
  };
  return { ...thrown, wait };
}

function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return "something that has no text was thrown";
  }
}

const fault = (error: unknown): void => {
  send({ report: "fault", run: current.getStore(), thrown: thrownOf(error) });
};
process.on("uncaughtException", fault);
process.on("unhandledRejection", fault);
process.on("exit", (code) => send({ report: "exiting", run: current.getStore(), code }));
if (parentPort !== null) {
  parentPort.on("message", hear);
} else {
  process.on("message", hear).once("disconnect", () => process.exit());
  outlive(process.ppid);
}

// A handler that computes would not notice that its server was killed: a thread beside it does.
function outlive(server: number): void {
  const program = `setInterval(() => {
    if (process.ppid !== ${server}) process.kill(process.pid, "SIGKILL");
  }, ${LOOK_MS});`;
  new Worker(program, { eval: true }).unref();
}
