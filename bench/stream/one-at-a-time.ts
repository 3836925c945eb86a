// A lone job over the network: the next is added when the one before is confirmed and has had a
// rest. In turns with a relay on bare WebSockets in as many processes, which does nothing but write
// and sync: what is beyond it is ours. On a busy machine both vary, and the difference with them.

import { join } from "node:path";
import type { Figure, Group, Report, Scale } from "../figure.ts";
import { Process } from "../process.ts";
import { Scratch } from "../scratch.ts";
import { figureOf, repeat } from "../spread.ts";
import { StreamLoad } from "./load.ts";

const PAYLOAD_BYTES = 512;
const LANES = 1;
const JOBS_PER_RUN = 1000;
const REST_MS = 1;
const SHARES = [0.5, 0.99];
const BARE = join(import.meta.dirname, "bare.ts");

const DURABILITIES = ["fsync", "os"] as const;
type Durability = (typeof DURABILITIES)[number];

export const oneAtATimeGroups: readonly Group[] = DURABILITIES.map((durability) => ({
  name: `one-at-a-time-${durability}`,
  run: (scale, report) => measure(scale, durability, report),
}));

async function measure(scale: Scale, durability: Durability, report: Report): Promise<void> {
  await using load = await StreamLoad.open({
    payloadBytes: PAYLOAD_BYTES,
    lanes: LANES,
    durability,
  });
  await using bare = await BareRelay.open(durability === "fsync");
  const jobsPerRun = scale.size(JOBS_PER_RUN);
  const round = async () => ({
    bare: await bare.latencies(jobsPerRun),
    ours: await load.spaced(jobsPerRun, REST_MS, SHARES),
  });
  await round();
  const rounds = await repeat(scale.runs, round);
  const figure = (metric: string, values: readonly number[]): Figure =>
    figureOf(`${metric}, one at a time, ${durability}`, "ms", values, {
      ...load.conditions,
      clock: `from the call of add to the handler, ${REST_MS} ms between two`,
      jobsPerRun,
    });
  for (const [index, share] of SHARES.entries()) {
    const p = `p${share * 100}`;
    const ours = rounds.map((one) => one.ours[index]!);
    const floor = rounds.map((one) => one.bare[index]!);
    report(figure(`add → handler ${p}`, ours));
    report(figure(`a relay on bare WebSockets ${p}`, floor));
    if (index > 0) continue;
    const beyond = ours.map((ms, run) => ms - floor[run]!);
    report(figure(`add → handler ${p} beyond that relay`, beyond));
  }
}

class BareRelay implements AsyncDisposable {
  readonly #scratch = new Scratch();
  readonly #relay = new Process(BARE, ["relay"]);
  readonly #sender = new Process(BARE, ["sender"]);
  readonly #receiver = new Process(BARE, ["receiver"]);

  static async open(isSynced: boolean): Promise<BareRelay> {
    const bare = new BareRelay();
    const path = join(bare.#scratch.dir, "bare");
    const url = await bare.#relay.ask<string>("relay", path, isSynced);
    await bare.#receiver.ask("connect", url, true);
    await bare.#sender.ask("connect", url, false);
    return bare;
  }

  async latencies(messages: number): Promise<number[]> {
    const finished = this.#receiver.ask<number[]>("finishTimed", messages, SHARES);
    await this.#sender.ask("spaced", messages, REST_MS);
    return finished;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of [this.#sender, this.#receiver, this.#relay]) {
      await one[Symbol.asyncDispose]();
    }
    this.#scratch[Symbol.dispose]();
  }
}
