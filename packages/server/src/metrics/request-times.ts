/**
 * Seconds that requests took, by route and status. Counted here and not by `prom-client`, which is
 * loaded by the first request for metrics: it takes 15 ms of a start.
 */
import type { FastifyInstance } from "fastify";

/** Seconds that requests take, from a cached answer to a long poll. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const METHODS = ["GET", "PUT", "POST", "DELETE"];

interface Times {
  readonly labels: { readonly method: string; readonly route: string; readonly status: number };
  /** Requests that took at most as long as the bucket of that index; the last: longer ones. */
  readonly counts: number[];
  sum: number;
}

interface Value {
  readonly metricName: string;
  readonly labels: object;
  readonly value: number;
}

export class RequestTimes {
  readonly name = "http_request_seconds";
  readonly #byLabels = new Map<string, Times>();

  static of(app: FastifyInstance): RequestTimes {
    const times = new RequestTimes();
    app.addHook("onResponse", async ({ method, routeOptions }, reply) => {
      // The route as it was declared: addresses are without number.
      const route = routeOptions.url ?? "none";
      times.#observe(knownMethod(method), route, reply.statusCode, reply.elapsedTime / 1000);
    });
    return times;
  }

  /** As a registry of `prom-client` asks its metrics. */
  async get(): Promise<object> {
    const values = [...this.#byLabels.values()].flatMap((times) => this.#valuesOf(times));
    const help = "Time to answer, by route and status";
    return { name: this.name, help, type: "histogram", values, aggregator: "sum" };
  }

  #observe(method: string, route: string, status: number, seconds: number): void {
    const key = `${method} ${status} ${route}`;
    let times = this.#byLabels.get(key);
    if (times === undefined) {
      const counts = new Array<number>(BUCKETS.length + 1).fill(0);
      times = { labels: { method, route, status }, counts, sum: 0 };
      this.#byLabels.set(key, times);
    }
    const index = BUCKETS.findIndex((most) => seconds <= most);
    times.counts[index === -1 ? BUCKETS.length : index]!++;
    times.sum += seconds;
  }

  #valuesOf({ labels, counts, sum }: Times): Value[] {
    const values: Value[] = [];
    let total = 0;
    for (const [index, count] of counts.entries()) {
      total += count;
      const le = BUCKETS[index] ?? "+Inf";
      values.push({ metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: total });
    }
    values.push({ metricName: `${this.name}_sum`, labels, value: sum });
    values.push({ metricName: `${this.name}_count`, labels, value: total });
    return values;
  }
}

function knownMethod(method: string): string {
  return METHODS.includes(method) ? method : "other";
}
