import type { EndState, JobState } from "@sluice/protocol";

export type Tone = "plain" | "good" | "warn" | "bad";

const TONES: Partial<Record<JobState, Tone>> = {
  running: "good",
  finished: "good",
  delayed: "warn",
  blocked: "warn",
  failed: "bad",
  dead: "bad",
  expired: "bad",
};

export const toneOf = (state: JobState | EndState): Tone => TONES[state] ?? "plain";
