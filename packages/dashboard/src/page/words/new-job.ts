/** A job as the form for a test job describes it. */

export type NewJobForm = Readonly<Record<string, string>>;

export function newJob(form: NewJobForm): Record<string, unknown> {
  const { payload = "", lane = "", tier = "", gates = "", delay = "" } = form;
  const job: Record<string, unknown> = { payload: parse("payload", payload) };
  if (lane !== "") job.fairnessKey = lane.startsWith("[") ? parse("lane", lane) : lane;
  if (tier !== "") job.priority = /^\d+$/.test(tier) ? Number(tier) : tier;
  const names = gates.split(",").map((name) => name.trim());
  if (gates.trim() !== "") job.gates = names.filter((name) => name !== "");
  if (delay !== "") job.delay = milliseconds(delay);
  return job;
}

function parse(field: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`the ${field} is not JSON`);
  }
}

function milliseconds(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value >= 0) return Math.round(value * 1000);
  throw new Error("the delay must be a number of seconds");
}
