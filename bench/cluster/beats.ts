// What one beat of another node costs a node that hears it, in clusters of many nodes: each hears
// all others, so that this grows with the square of their number. The others are only said to be
// there; the registry is in memory. What NATS takes for the delivery is not in it, and neither is
// what a node looks at four times a second whatever it has heard.

import { setImmediate } from "node:timers/promises";
import { Ownership } from "@sluice/cluster/node";
import { MemoryRegistry } from "@sluice/cluster/registry";
import { SystemClock } from "@sluice/protocol";
import type { Group, Report, Scale } from "../figure.ts";
import { figureOf, repeat, rounded } from "../spread.ts";

const SHAPES = [
  { count: 3, partitions: 12 },
  { count: 30, partitions: 120 },
  { count: 60, partitions: 240 },
];
const BEATS = 3000;
// Twice a second, as nodes do.
const BEATS_PER_SECOND = 2;

const HOST = {
  warm: async () => {},
  cool: () => {},
  open: async () => {},
  rest: () => {},
  resume: () => {},
  close: async () => {},
  prove: async () => {},
  anchorOf: () => undefined,
};

const nameOf = (index: number): string => `node-${String(index).padStart(3, "0")}`;

class Others {
  readonly #registry: MemoryRegistry;
  readonly #revisions = new Map<string, number>();
  readonly #count: number;
  readonly #share: number;
  #beat = 0;

  constructor(registry: MemoryRegistry, count: number, partitions: number) {
    this.#registry = new MemoryRegistry(registry);
    this.#count = count;
    this.#share = Math.floor(partitions / count);
  }

  async beat(): Promise<void> {
    const name = nameOf(1 + (this.#beat++ % (this.#count - 1)));
    const key = `node.${name}`;
    const tenures = Array.from({ length: this.#share }, (_, partition) => {
      return { partition, state: "serving", lagMs: 0, jobs: this.#beat, openMs: 12 };
    });
    const entry = { address: `http://${name}:7070`, incarnation: name, version: "1", startedAt: 0 };
    const more = { isDraining: false, beat: this.#beat, keysRead: 0, tenures };
    const value = JSON.stringify({ ...entry, ...more });
    const known = this.#revisions.get(key);
    const set =
      known === undefined
        ? this.#registry.create(key, value)
        : this.#registry.update(key, value, known);
    this.#revisions.set(key, await set);
  }
}

async function microsOf(beats: number, others: Others): Promise<number> {
  const before = process.cpuUsage();
  for (let i = 0; i < beats; i++) await others.beat();
  await setImmediate();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / beats;
}

async function measureShape(
  { count, partitions }: (typeof SHAPES)[number],
  scale: Scale,
  report: Report,
): Promise<void> {
  const registry = new MemoryRegistry();
  const others = new Others(registry, count, partitions);
  const node = nameOf(0);
  const options = { clock: new SystemClock(), address: "http://a:7070", version: "1", host: HOST };
  const ownership = new Ownership({ ...options, registry, node, incarnation: "1", partitions });
  for (let i = 1; i < count; i++) await others.beat();
  await ownership.start();
  const beats = Math.max(count, scale.size(BEATS));
  await microsOf(beats, others);
  const micros = await repeat(scale.runs, () => microsOf(beats, others));
  ownership.stop();
  const name = `${count} nodes, ${partitions} partitions`;
  const one = figureOf(`${name}: a beat heard`, "µs", micros, {
    nodes: count,
    partitions,
    beatsPerRun: beats,
    registry: "in memory, the writing of the beat included",
  });
  report(one);
  const beatsPerSecond = BEATS_PER_SECOND * (count - 1);
  report({
    metric: `${name}: all beats heard`,
    value: rounded((one.value * beatsPerSecond) / 1e6),
    unit: "of a core",
    conditions: { ...one.conditions, beatsPerSecond },
  });
}

async function measure(scale: Scale, report: Report): Promise<void> {
  for (const shape of SHAPES) await measureShape(shape, scale, report);
}

export const beatsGroups: readonly Group[] = [{ name: "beats", run: measure }];
