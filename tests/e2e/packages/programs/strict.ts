// Compiled, not run: the types that a user sees, in every mode of modules.
import { FakeClock, type Queue, RetryAfter, Sluice, SluiceError } from "sluice";
import { Sluice as Remote } from "sluice/client";

interface Mail {
  to: string;
}

export async function send(): Promise<string> {
  const sluice = await Sluice.open({ durability: "memory", clock: new FakeClock() });
  const mail: Queue<Mail, string> = await sluice.queue<Mail, string>("mail", {
    retry: { attempts: 5 },
  });
  const worker = mail.work(async (job) => {
    if (job.attempt > 3) throw new RetryAfter("30s", { gate: "smtp" });
    return job.payload.to;
  });
  const job = await mail.add({ to: "a@b.c" }, { fairnessKey: ["acme", "user-7"], delay: "5m" });
  // @ts-expect-error a payload has the type of its queue
  await mail.add({ from: "a@b.c" });
  // @ts-expect-error what only Sluice itself calls is no part of a worker
  worker.jobsGone([]);
  await worker.close({ timeout: "10s" });
  const result: string = await job.finished();
  await sluice.close();
  return result;
}

// @ts-expect-error a Sluice comes from open or connect
export const made = (): Sluice => new Sluice(null as never);
export const connected = (): Promise<unknown> => Remote.connect("http://127.0.0.1:7070");
export const codeOf = (error: unknown): string | undefined =>
  error instanceof SluiceError ? error.code : undefined;
