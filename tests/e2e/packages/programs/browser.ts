// Compiled, not run: the types that a page sees, without those of Node.
import { type Job, Sluice, SluiceError } from "sluice/client";

export async function send(url: string): Promise<string> {
  const sluice = await Sluice.connect(url);
  const mail = await sluice.queue<{ to: string }, string>("mail");
  const job: Job<{ to: string }, string> = await mail.add({ to: "a@b.c" });
  document.title = job.id;
  return await job.finished();
}

export const codeOf = (error: unknown): string | undefined =>
  error instanceof SluiceError ? error.code : undefined;
