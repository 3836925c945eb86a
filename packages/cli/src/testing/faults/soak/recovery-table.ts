import { table } from "../../../show.ts";
import { FAULTS } from "../faults.ts";

export interface Injection {
  readonly fault: string;
  readonly addMs: number;
  readonly dispatchMs: number;
  // How long a plain JetStream publisher was silent meanwhile.
  readonly plainMs?: number;
  // What happened, when it took longer than it may.
  readonly timeline?: readonly string[];
}

// How long any partition was silent, by fault, and how long it may be.
export function recoveryTable(injections: readonly Injection[]): string {
  const rows = FAULTS.flatMap(({ name, goalMs, isTotal, isBeyondPlain = false }) => {
    const found = injections.filter(({ fault }) => fault === name);
    if (found.length === 0) return [];
    const times = sorted(found.map(silenceOf));
    const plain = sorted(found.map(({ plainMs = 0 }) => plainMs));
    const judged = isBeyondPlain
      ? sorted(found.map((one) => silenceOf(one) - (one.plainMs ?? 0)))
      : times;
    const goal = goalMs === undefined ? "" : `${isBeyondPlain ? "NATS + " : ""}${seconds(goalMs)}`;
    const verdict = goalMs === undefined ? "" : judged.at(-1)! <= goalMs ? "kept" : "over";
    const from = isTotal ? "its end" : "its start";
    const shown = [times[Math.floor(times.length / 2)]!, times.at(-1)!, plain.at(-1)!].map(seconds);
    return [[name, String(found.length), from, ...shown, goal, verdict]];
  });
  const heads = ["fault", ">times", "counted from", ">median", ">most", ">NATS alone", ">goal", ""];
  return table(heads, rows);
}

function silenceOf({ addMs, dispatchMs }: Injection): number {
  return Math.max(addMs, dispatchMs);
}

function sorted(times: readonly number[]): number[] {
  return [...times].sort((a, b) => a - b);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
