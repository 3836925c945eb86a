/** Checks what a queue is told, and fills in what it is not told. */
import { invalid } from "../errors.ts";
import {
  BURST_MAX,
  CAPACITY_BYTES_MAX,
  CAPACITY_JOBS_MAX,
  DELIVERIES_DEFAULT,
  DURATION_MS_MAX,
  LEASE_MS_MAX,
  NAME_BYTES_MAX,
  RATE_MAX,
  RATE_MIN,
  RESULTS_JOBS_MAX,
  TIERS_MAX,
  WEIGHT_MAX,
  WEIGHT_RULE_BYTES_MAX,
  WEIGHT_RULES_MAX,
} from "../limits.ts";
import type { QueueConfig, TierConfig } from "../types.ts";
import { asObject, Fields, integer, name as parseName } from "./fields.ts";
import { fitsBytes } from "./names.ts";
import { parseQueueRetry } from "./parse-retry.ts";

const QUEUE = [
  "tiers",
  "tierOrder",
  "promoteAfterMs",
  "fairness",
  "weights",
  "weight",
  "capacity",
  "onFull",
  "addTimeoutMs",
  "fullRetryMs",
  "admission",
  "leaseMs",
  "retry",
  "dlq",
  "retentionMs",
  "results",
  "ttlMs",
  "paused",
  "policy",
] as const;
const TIER = ["name", "capacity", "perLane", "spillTo"] as const;
const CAPACITY = ["jobs", "bytes", "perLane", "delayed", "running"] as const;
const ADMISSION = ["fill", "rate", "burst"] as const;
const RESULTS = ["jobs", "ms"] as const;

const DLQ_SUFFIX = ".dlq";

const DEFAULTS: QueueConfig = {
  tiers: numberedTiers(4),
  tierOrder: "strict",
  fairness: true,
  weights: Object.freeze(Object.create(null)),
  weight: 1,
  capacity: { jobs: 1_000_000, bytes: 2 ** 30, delayed: 1_000_000, running: 1_000_000 },
  onFull: "reject",
  addTimeoutMs: 5000,
  fullRetryMs: 10_000,
  leaseMs: 30_000,
  retry: {
    attempts: 5,
    minMs: 1000,
    maxMs: 300_000,
    factor: 2,
    jitter: 0.2,
    deliveries: DELIVERIES_DEFAULT,
  },
  dlq: false,
  results: { jobs: 1000, ms: 600_000 },
  paused: false,
};

/** The queue's configuration; fields that are not mentioned are as in `base`, else the default. */
export function parseQueueConfig(name: string, options: unknown, base?: QueueConfig): QueueConfig {
  parseName("queue.name", name);
  const fields = new Fields("queue", options, QUEUE);
  const from = base ?? DEFAULTS;
  const tiers = parseTiers(fields) ?? from.tiers;
  return {
    tiers,
    tierOrder: parseTierOrder(fields, from.tierOrder, tiers.length),
    promoteAfterMs: fields.integerOrOff("promoteAfterMs", from.promoteAfterMs, 1, DURATION_MS_MAX),
    fairness: fields.flag("fairness", from.fairness),
    weights: parseWeights(fields) ?? from.weights,
    weight: fields.integer("weight", from.weight, 1, WEIGHT_MAX),
    capacity: parseCapacity(fields.sub("capacity", CAPACITY), from.capacity),
    onFull: fields.choice("onFull", from.onFull, ["reject", "drop", "spill", "wait"]),
    addTimeoutMs: fields.integer("addTimeoutMs", from.addTimeoutMs, 0, DURATION_MS_MAX),
    fullRetryMs: fields.integer("fullRetryMs", from.fullRetryMs, 1, DURATION_MS_MAX),
    admission: parseAdmission(fields, from.admission),
    leaseMs: fields.integer("leaseMs", from.leaseMs, 1, LEASE_MS_MAX),
    retry: parseQueueRetry("queue.retry", fields.get("retry"), from.retry),
    dlq: parseDlq(name, fields, base),
    retentionMs: fields.integerOrOff("retentionMs", from.retentionMs, 1, DURATION_MS_MAX),
    results: parseResults(fields.sub("results", RESULTS), from.results),
    ttlMs: fields.integerOrOff("ttlMs", from.ttlMs, 1, DURATION_MS_MAX),
    paused: fields.flag("paused", from.paused),
    policy: parsePolicy(fields, from.policy),
  };
}

/** Tiers that were only counted are named by their index. */
function numberedTiers(count: number): TierConfig[] {
  return Array.from({ length: count }, (_, index) => ({ name: String(index) }));
}

function parseTiers(fields: Fields): TierConfig[] | undefined {
  if (typeof fields.get("tiers") === "number") {
    return numberedTiers(integer("queue.tiers", fields.get("tiers"), 1, TIERS_MAX));
  }
  const tiers = fields.list("tiers", 1, TIERS_MAX, parseTier);
  tiers?.forEach((tier, index) => {
    const field = `queue.tiers[${index}]`;
    if (tiers.findIndex((other) => other.name === tier.name) !== index) {
      throw invalid(field, "a tier with a name of its own", tier.name);
    }
    // Only downwards, so that no overflow runs in a circle.
    const { spillTo } = tier;
    if (spillTo !== undefined && (spillTo <= index || spillTo >= tiers.length)) {
      throw invalid(`${field}.spillTo`, "the index of a less urgent tier", spillTo);
    }
  });
  return tiers;
}

function parseTier(field: string, value: unknown, index: number): TierConfig {
  if (typeof value === "string") return { name: parseName(field, value) };
  const fields = new Fields(field, asObject(field, value), TIER);
  const tier: TierConfig = { name: parseName(`${field}.name`, fields.get("name") ?? `${index}`) };
  const capacity = fields.integer("capacity", undefined, 1, CAPACITY_JOBS_MAX);
  if (capacity !== undefined) tier.capacity = capacity;
  const perLane = fields.integer("perLane", undefined, 1, CAPACITY_JOBS_MAX);
  if (perLane !== undefined) tier.perLane = perLane;
  const spillTo = fields.integer("spillTo", undefined, 0, TIERS_MAX - 1);
  if (spillTo !== undefined) tier.spillTo = spillTo;
  return tier;
}

function parseTierOrder(
  fields: Fields,
  absent: QueueConfig["tierOrder"],
  tiers: number,
): QueueConfig["tierOrder"] {
  const order = fields.get("tierOrder") ?? absent;
  if (order === "strict") return order;
  const wanted = `"strict" or an array of ${tiers} weights, one for each tier`;
  if (!Array.isArray(order)) throw invalid("queue.tierOrder", wanted, order);
  if (order.length !== tiers) throw invalid("queue.tierOrder", wanted, `${order.length} weights`);
  return order.map((weight, i) => integer(`queue.tierOrder[${i}]`, weight, 1, WEIGHT_MAX));
}

function parseWeights(fields: Fields): QueueConfig["weights"] | undefined {
  if (!fields.has("weights")) return undefined;
  const rules = Object.entries(asObject("queue.weights", fields.get("weights")));
  if (rules.length > WEIGHT_RULES_MAX) {
    throw invalid("queue.weights", `an object of at most ${WEIGHT_RULES_MAX} keys`, rules.length);
  }
  // Without a prototype: a tenant may be called "constructor".
  const weights: Record<string, number> = Object.create(null);
  for (const [key, weight] of rules) {
    if (!fitsBytes(key, WEIGHT_RULE_BYTES_MAX)) {
      throw invalid("queue.weights", `an object of keys up to ${WEIGHT_RULE_BYTES_MAX} bytes`, key);
    }
    weights[key] = integer(`queue.weights[${JSON.stringify(key)}]`, weight, 1, WEIGHT_MAX);
  }
  return weights;
}

function parseCapacity(fields: Fields, absent: QueueConfig["capacity"]): QueueConfig["capacity"] {
  return {
    jobs: fields.integer("jobs", absent.jobs, 1, CAPACITY_JOBS_MAX),
    bytes: fields.integer("bytes", absent.bytes, 1, CAPACITY_BYTES_MAX),
    perLane: fields.integerOrOff("perLane", absent.perLane, 1, CAPACITY_JOBS_MAX),
    delayed: fields.integer("delayed", absent.delayed, 0, CAPACITY_JOBS_MAX),
    running: fields.integer("running", absent.running, 1, CAPACITY_JOBS_MAX),
  };
}

function parseAdmission(queue: Fields, absent: QueueConfig["admission"]): QueueConfig["admission"] {
  if (queue.get("admission") === null) return undefined;
  if (!queue.has("admission")) return absent;
  const fields = queue.sub("admission", ADMISSION);
  const fill = fields.number("fill", undefined, 0, 1);
  const rate = fields.number("rate", undefined, RATE_MIN, RATE_MAX);
  if (fill === undefined) throw invalid("queue.admission.fill", "given", fill);
  if (rate === undefined) throw invalid("queue.admission.rate", "given", rate);
  return { fill, rate, burst: fields.number("burst", Math.max(1, rate), 1, BURST_MAX) };
}

function parseDlq(name: string, fields: Fields, base: QueueConfig | undefined): string | false {
  const dlq = fields.get("dlq");
  if (dlq === false) return false;
  if (dlq === undefined) return base === undefined ? defaultDlq(name) : base.dlq;
  if (typeof dlq !== "string") throw invalid("queue.dlq", "the name of a queue, or false", dlq);
  if (dlq === name) throw invalid("queue.dlq", "another queue, or false", dlq);
  return parseName("queue.dlq", dlq);
}

/** A queue made for dead letters. A name that leaves no room for the suffix has no `dlq`. */
export function parseLetterQueue(name: string): QueueConfig {
  const hasRoom = name.length + DLQ_SUFFIX.length <= NAME_BYTES_MAX;
  return parseQueueConfig(name, hasRoom ? {} : { dlq: false });
}

/** The dead letters of a dead letter queue go nowhere, or there would be no end of queues. */
function defaultDlq(name: string): string | false {
  if (name.endsWith(DLQ_SUFFIX)) return false;
  const dlq = name + DLQ_SUFFIX;
  if (dlq.length <= NAME_BYTES_MAX) return dlq;
  throw invalid("queue.dlq", `given, since ${NAME_BYTES_MAX} bytes cannot hold its default`, dlq);
}

/** Whoever runs it has checked it: here it is carried, so that it changes with the queue. */
function parsePolicy(fields: Fields, absent: QueueConfig["policy"]): QueueConfig["policy"] {
  const policy = fields.get("policy");
  if (policy === null) return undefined;
  return policy === undefined ? absent : asObject("queue.policy", policy);
}

function parseResults(fields: Fields, absent: QueueConfig["results"]): QueueConfig["results"] {
  return {
    jobs: fields.integer("jobs", absent.jobs, 0, RESULTS_JOBS_MAX),
    ms: fields.integer("ms", absent.ms, 0, DURATION_MS_MAX),
  };
}
