import type { TimeCounts } from "@sluice/protocol";
import type { Metric, Registry } from "prom-client";

type Labels = Readonly<Record<string, string>>;

interface Value {
  labels: Labels;
  value: number;
  metricName?: string;
}

/**
 * A metric that is read on request, from figures that are counted elsewhere: nothing is
 * counted twice, and without requests it costs nothing.
 */
class ReadMetric {
  readonly #name: string;
  readonly #help: string;
  readonly #type: "gauge" | "counter" | "histogram";
  values: Value[] = [];

  constructor(name: string, help: string, type: "gauge" | "counter" | "histogram") {
    this.#name = name;
    this.#help = help;
    this.#type = type;
  }

  get name(): string {
    return this.#name;
  }

  async get(): Promise<object> {
    const { values } = this;
    return { name: this.#name, help: this.#help, type: this.#type, values, aggregator: "sum" };
  }

  reset(): void {
    this.values = [];
  }
}

/** Readings under their names, made when they are first set. */
export class Readings {
  readonly registry: Registry;
  readonly #byName = new Map<string, ReadMetric>();

  constructor(registry: Registry) {
    this.registry = registry;
  }

  /** Forgets all values, so that what is gone is not shown any more. */
  clear(): void {
    for (const reading of this.#byName.values()) reading.reset();
  }

  gauge(name: string, help: string, value: number, labels: Labels = {}): void {
    this.#of(name, help, "gauge").values.push({ labels, value });
  }

  counter(name: string, help: string, value: number, labels: Labels = {}): void {
    this.#of(name, help, "counter").values.push({ labels, value });
  }

  /** Buckets by powers of two of a millisecond, in seconds as is the custom. */
  histogram(name: string, help: string, { counts, sum }: TimeCounts, labels: Labels = {}): void {
    const { values } = this.#of(name, help, "histogram");
    let total = 0;
    for (const [i, count] of counts.entries()) {
      total += count;
      const le = i === counts.length - 1 ? "+Inf" : String(2 ** i / 1000);
      values.push({ labels: { ...labels, le }, value: total, metricName: `${name}_bucket` });
    }
    values.push({ labels, value: sum / 1000, metricName: `${name}_sum` });
    values.push({ labels, value: total, metricName: `${name}_count` });
  }

  #of(name: string, help: string, type: "gauge" | "counter" | "histogram"): ReadMetric {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const reading = new ReadMetric(name, help, type);
    this.#byName.set(name, reading);
    this.registry.registerMetric(reading as unknown as Metric);
    return reading;
  }
}
