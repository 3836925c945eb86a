/** Jobs as forms describe them. */
import type { JobJson } from "@sluice/protocol";

export type NewJobForm = Readonly<Record<string, string>>;

export function newJob(form: NewJobForm): Record<string, unknown> {
  const { payload = "", lane = "", tier = "", gates = "", delay = "" } = form;
  const job: Record<string, unknown> = { payload: parseJson("payload", payload) };
  if (lane !== "") job.fairnessKey = lane.startsWith("[") ? parseJson("lane", lane) : lane;
  if (tier !== "") job.priority = /^\d+$/.test(tier) ? Number(tier) : tier;
  const names = gates.split(",").map((name) => name.trim());
  if (gates.trim() !== "") job.gates = names.filter((name) => name !== "");
  if (delay !== "") job.delay = milliseconds(delay);
  return job;
}

export function parseJson(field: string, text: string): unknown {
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

/** A job like another one; the text is its payload instead of that one's. */
export function copyOfJob(job: JobJson, text: string | undefined): Record<string, unknown> {
  const { fairnessKey, tier, gates, headers, cost, weight, payloadBase64, payload } = job;
  const shared = { fairnessKey, priority: tier, gates, headers, cost, weight };
  if (text !== undefined) return { ...shared, payload: parseJson("payload", text) };
  return payloadBase64 === undefined ? { ...shared, payload } : { ...shared, payloadBase64 };
}
