import { spawn } from "node:child_process";
import type { Broker } from "@sluice/protocol";
import { type LeasedJob, SluiceError } from "@sluice/protocol";
import { carried } from "../carried.ts";
import {
  type Call,
  type Command,
  EXIT,
  Misuse,
  type Output,
  wholeOf,
  wordsOf,
} from "../command.ts";
import { CONSUME_WAIT_MS, PROGRAM_ERROR_CHARS_MAX } from "../limits.ts";
import { printable } from "../show.ts";
import { connected, TARGET, TARGET_USAGE } from "../target.ts";

export const consumeCommand: Command = {
  name: "consume",
  usage: `sluice consume QUEUE                prints each payload on a line and acks the job
sluice consume QUEUE -- PROGRAM ... runs PROGRAM for each job, its payload on standard input;
                                    acked if it exits with 0, else nacked with its output

  --count N              stop after N jobs
  --drain                stop when no job is left to take
  --concurrency N        programs side by side (default 1)
${TARGET_USAGE}`,
  options: {
    ...TARGET,
    count: { type: "string" },
    drain: { type: "boolean" },
    concurrency: { type: "string" },
  },
  run: async (call) => {
    const [queue] = wordsOf(call.words, "QUEUE");
    if (call.after.length === 0 && call.values.concurrency !== undefined) {
      throw new Misuse("--concurrency needs a PROGRAM to run");
    }
    return connected(call, ({ broker }) => consume(call, broker, queue));
  },
};

async function consume(call: Call, broker: Broker, queue: string): Promise<number> {
  const limit = wholeOf(call, "count", 1) ?? Number.POSITIVE_INFINITY;
  const width = wholeOf(call, "concurrency", 1) ?? 1;
  const state = { left: limit, failed: 0 };
  await Promise.all(Array.from({ length: width }, () => loop(call, broker, queue, state)));
  return state.failed === 0 ? EXIT.well : EXIT.wrong;
}

async function loop(
  call: Call,
  broker: Broker,
  queue: string,
  state: { left: number; failed: number },
): Promise<void> {
  const wait = call.values.drain === true ? 0 : CONSUME_WAIT_MS;
  while (!call.stop.aborted && state.left > 0) {
    state.left -= 1;
    const [job] = await take(call, broker, queue, wait);
    if (job === undefined) {
      state.left += 1;
      if (call.values.drain === true) return;
      continue;
    }
    const isDone = await handle(call, broker, job);
    if (!isDone) state.failed += 1;
  }
}

async function take(
  { stop }: Call,
  broker: Broker,
  queue: string,
  wait: number,
): Promise<LeasedJob[]> {
  try {
    return await broker.lease(queue, { max: 1, wait, signal: stop, worker: "sluice consume" });
  } catch (error) {
    if (error instanceof SluiceError && error.code === "ABORTED") return [];
    throw error;
  }
}

async function handle(call: Call, broker: Broker, job: LeasedJob): Promise<boolean> {
  const { lease } = job;
  if (call.after.length === 0) {
    if (call.isJson) call.output.out(JSON.stringify(carried(job)));
    else write(call.output, Buffer.from(job.payload).toString());
    return confirm(call, await broker.ack([{ lease }]));
  }
  const beat = setInterval(
    () => void broker.extend([{ lease, leaseMs: job.expiresIn }]).catch(() => undefined),
    job.expiresIn / 3,
  );
  try {
    const error = await runProgram(call, job);
    if (error === undefined) return confirm(call, await broker.ack([{ lease }]));
    call.output.progress.write(`${job.id}: ${printable(error)}\n`);
    confirm(call, await broker.nack([{ lease, error }]));
    return false;
  } finally {
    clearInterval(beat);
  }
}

function confirm(
  call: Call,
  [outcome]: readonly { error?: { code: string; message: string } | undefined }[],
): boolean {
  if (outcome?.error === undefined) return true;
  call.output.progress.write(`${outcome.error.code}: ${printable(outcome.error.message)}\n`);
  return false;
}

/** What went wrong, or nothing. */
function runProgram({ after, env, stop }: Call, job: LeasedJob): Promise<string | undefined> {
  const [program, ...args] = after as [string, ...string[]];
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: ["pipe", "inherit", "pipe"],
      signal: stop,
      env: {
        ...env,
        SLUICE_JOB_ID: job.id,
        SLUICE_QUEUE: job.queue,
        SLUICE_ATTEMPT: String(job.attempt),
        SLUICE_DELIVERIES: String(job.deliveries),
      },
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-PROGRAM_ERROR_CHARS_MAX);
    });
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => {
      const how = code === null ? `ended by ${signal}` : `exit code ${code}`;
      resolve(code === 0 ? undefined : `${how}${said === "" ? "" : `: ${said.trim()}`}`);
    });
    // A program that does not read its input is none of our business.
    child.stdin.on("error", () => undefined);
    child.stdin.end(job.payload);
  });
}

/** A payload is for the program that reads the output, byte by byte. */
function write(output: Output, payload: string): void {
  if (output.raw === undefined) output.out(payload);
  else output.raw(payload);
}
