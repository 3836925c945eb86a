import { type Broker, SluiceError } from "@sluice/protocol";
import type { RequestBucket } from "./request-bucket.ts";

/** The broker behind a limit on adds in all: what comes beyond it is refused at once, and whole. */
export function admit(broker: Broker, bucket: RequestBucket): Broker {
  const add: Broker["add"] = async (queue, jobs, options) => {
    const retryAfterMs = bucket.take(Array.isArray(jobs) ? jobs.length : 1);
    if (retryAfterMs === 0) return broker.add(queue, jobs, options);
    throw new SluiceError("RATE_LIMITED", "more jobs come than are taken", { retryAfterMs });
  };
  return new Proxy(broker, {
    get(target, name) {
      if (name === "add") return add;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
