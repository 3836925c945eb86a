// Very many schedules are due within one second. Measures how long they block the event loop.

import { Sluice } from "sluice";
import type { Figure, Group } from "../figure.ts";
import { LongestTurn, type TurnTimes } from "../longest-turn.ts";
import { Scratch } from "../scratch.ts";

const SCHEDULES = 100_000;
const IN_FLIGHT = 1000;
const SECOND_MS = 1000;
const MAKE_MS = 20_000;
const STALL_MS_MAX = 50;

export const schedulesDue: Group = {
  name: "schedules due",
  run: async ({ size }) => {
    using scratch = new Scratch();
    await using sluice = await Sluice.open({ dir: scratch.fresh() });
    await sluice.queue("q");
    const count = size(SCHEDULES);
    // Making them takes longer than the second in which they are due.
    const due = Date.now() + (count / SCHEDULES) * MAKE_MS + 2 * SECOND_MS;
    for (let i = 0; i < count; i += IN_FLIGHT) {
      const some = Array.from({ length: Math.min(IN_FLIGHT, count - i) }, (_, j) => i + j);
      await Promise.all(
        some.map((n) => {
          const at = [Math.round(due + (n / count) * SECOND_MS)];
          return sluice.broker.setSchedule("q", `s${n}`, { at, payload: n });
        }),
      );
    }
    const restMs = due - Date.now() - 100;
    if (restMs < 0) throw new Error(`the schedules were not made within ${MAKE_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, restMs));
    return figures(count, await watched(sluice, count, due), scratch.disk);
  },
};

interface Watched extends TurnTimes {
  readonly tookMs: number;
}

// The longest turn until all have added their jobs.
async function watched(sluice: Sluice, count: number, due: number): Promise<Watched> {
  const turns = new LongestTurn();
  for (let turn = 0; ; turn++) {
    await new Promise(setImmediate);
    if (turn % 100 !== 0) continue;
    const { schedules } = await sluice.broker.stats();
    if ((schedules.ticks.added ?? 0) < count) continue;
    const tookMs = Date.now() - due;
    return { ...(await turns.end()), tookMs };
  }
}

function figures(count: number, watched: Watched, disk: string): Figure[] {
  const { stallMs, busyMs, tookMs } = watched;
  const conditions = { schedules: count, durability: "fsync", disk };
  return [
    {
      metric: "longest time between two turns of the loop while they are due",
      value: stallMs,
      unit: "ms",
      conditions,
      target: { atMost: STALL_MS_MAX },
    },
    {
      metric: "longest processor time of one turn of the loop while they are due",
      value: busyMs,
      unit: "ms",
      conditions,
    },
    { metric: "until all have added their jobs", value: tookMs, unit: "ms", conditions },
  ];
}
