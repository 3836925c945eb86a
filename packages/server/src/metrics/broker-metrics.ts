/**
 * The figures of a broker for Prometheus. How many series there are is bounded whatever users do:
 * the deepest queues have their own, the others are summed up; of lanes only the longest few.
 */
import {
  allQueues,
  type Broker,
  type GateDecisions,
  type GateInfo,
  type LaneStats,
  type QueueInfo,
  type QueueStats,
  type ScriptStats,
} from "@sluice/protocol";
import {
  LABEL_CHARS_MAX,
  METRIC_GATES_MAX,
  METRIC_LANE_QUEUES_MAX,
  METRIC_LANES_MAX,
  METRIC_LANES_MS,
  METRIC_QUEUES_MAX,
} from "../limits.ts";
import type { Readings } from "./reading.ts";

const DEPTHS = {
  waiting: "Jobs that wait to go out",
  delayed: "Jobs that are not due yet",
  blocked: "Jobs that wait for other jobs",
  running: "Jobs that workers hold",
  bytes: "Bytes of payload and headers of live jobs",
  lanes: "Lanes with jobs that wait",
  freeWorkers: "Jobs that workers would take now",
} as const satisfies Partial<Record<keyof QueueStats, string>>;

const COUNTERS = {
  added: "Jobs added",
  dispatched: "Deliveries to workers",
  finished: "Jobs that were acked",
  failed: "Jobs that ended as failed",
  retried: "Failures that were retried",
  expired: "Jobs whose deadline passed",
  cancelled: "Jobs that were cancelled",
  dead: "Jobs that went to a dead letter queue",
  redriven: "Dead jobs that came back to their queue",
  dropped: "Adds dropped by a full queue",
  rejected: "Adds refused by a full queue",
  steps: "Steps of jobs that are done",
  suspended: "Jobs that were suspended for a step",
  signals: "Signals sent to jobs",
} as const satisfies Partial<Record<keyof QueueStats, string>>;

/** A queue that users cannot make, as its name has a character that names cannot have. */
const OTHERS = "(others)";

export async function readBroker(broker: Broker, readings: Readings): Promise<void> {
  const queues = (await allQueues(broker, { partial: true })).sort(byDepth);
  const shown = queues.slice(0, METRIC_QUEUES_MAX);
  for (const { name, stats } of shown) readQueue(readings, name, stats);
  const others = queues.slice(METRIC_QUEUES_MAX);
  if (others.length > 0) readQueue(readings, OTHERS, sumOf(others));
  readings.gauge("sluice_queues", "Queues", queues.length);
  const { items: gates } = await broker.gates({ limit: METRIC_GATES_MAX });
  for (const gate of gates) readGate(readings, gate);
  await readStats(broker, readings, shown, gates);
  await readLanes(broker, readings, shown.slice(0, METRIC_LANE_QUEUES_MAX));
}

function byDepth(a: QueueInfo, b: QueueInfo): number {
  return b.stats.waiting - a.stats.waiting || (a.name < b.name ? -1 : 1);
}

type Figures = Pick<QueueStats, keyof typeof DEPTHS | keyof typeof COUNTERS>;

function readQueue(readings: Readings, queue: string, stats: Figures): void {
  for (const [field, help] of Object.entries(DEPTHS)) {
    const name = `sluice_queue_${field === "freeWorkers" ? "free_workers" : field}`;
    readings.gauge(name, help, stats[field as keyof typeof DEPTHS], { queue });
  }
  for (const [field, help] of Object.entries(COUNTERS)) {
    const value = stats[field as keyof typeof COUNTERS];
    readings.counter(`sluice_jobs_${field}_total`, help, value, { queue });
  }
}

function sumOf(queues: readonly QueueInfo[]): Figures {
  const fields = [...Object.keys(DEPTHS), ...Object.keys(COUNTERS)] as (keyof Figures)[];
  const sums = fields.map((field): [string, number] => [
    field,
    queues.reduce((sum, { stats }) => sum + stats[field], 0),
  ]);
  return Object.fromEntries(sums) as unknown as Figures;
}

async function readStats(
  broker: Broker,
  readings: Readings,
  queues: readonly QueueInfo[],
  gates: readonly GateInfo[],
): Promise<void> {
  const stats = await broker.stats({
    queues: queues.map(({ name }) => name),
    // A pattern decides nothing itself: its gates do.
    gates: gates.map(({ key }) => key).filter((key) => !key.endsWith("*")),
  });
  readings.histogram("sluice_add_seconds", "From an add to its answer", stats.adds);
  for (const { name, wait, run, script } of stats.queues) {
    const labels = { queue: name };
    readings.histogram("sluice_wait_seconds", "From being due to going out", wait, labels);
    readings.histogram("sluice_run_seconds", "From going out to ack or nack", run, labels);
    if (script !== undefined) readScript(readings, name, script);
  }
  for (const gate of stats.gates) readDecisions(readings, gate);
  readings.gauge("sluice_schedules", "Schedules", stats.schedules.count);
  for (const [outcome, count] of Object.entries(stats.schedules.ticks)) {
    const help = "Ticks of schedules, by what became of them";
    readings.counter("sluice_schedule_ticks_total", help, count, { outcome });
  }
  readings.gauge("sluice_log_bytes", "Size of the log", stats.logBytes);
  readings.gauge("sluice_log_live_bytes", "What lives in the log", stats.liveBytes);
  readings.gauge("sluice_log_unsynced_bytes", "Written, not yet durable", stats.unsyncedBytes);
  const commit = "How long the commit under way has taken";
  readings.gauge("sluice_log_unsynced_seconds", commit, stats.unsyncedFor / 1000);
  readings.gauge("sluice_payload_bytes", "Payloads in memory", stats.payloadBytes);
}

function readScript(readings: Readings, queue: string, script: ScriptStats): void {
  const labels = { queue };
  readings.counter("sluice_script_runs_total", "Calls of a queue's script", script.runs, labels);
  for (const [reason, count] of Object.entries(script.failures)) {
    const help = "Jobs that went on without their script";
    readings.counter("sluice_script_failures_total", help, count, { queue, reason });
  }
  const help = "Processor time of a batch of calls";
  readings.histogram("sluice_script_seconds", help, script.times, labels);
  const resting = "1 while the script is not asked because it failed";
  readings.gauge("sluice_script_resting", resting, script.isOpen ? 1 : 0, labels);
}

function readDecisions(readings: Readings, { key, passed, kept }: GateDecisions): void {
  readings.counter("sluice_gate_passed_total", "Jobs that passed a gate", passed, { gate: key });
  for (const [part, count] of Object.entries(kept)) {
    const help = "How often the first in line had to wait, by what was shut";
    readings.counter("sluice_gate_kept_total", help, count, { gate: key, part });
  }
}

async function readLanes(
  broker: Broker,
  readings: Readings,
  queues: readonly QueueInfo[],
): Promise<void> {
  const asked = queues.filter(({ stats }) => stats.lanes > 0);
  const late = Promise.withResolvers<readonly LaneStats[]>();
  const timer = setTimeout(() => late.resolve([]), METRIC_LANES_MS);
  const lists = await Promise.all(
    asked.map(({ name }) => {
      const options = { sort: "waiting", limit: METRIC_LANES_MAX } as const;
      // Deleted meanwhile, or a partition of it is away: then it shows no lanes.
      const page = broker.lanes(name, options).catch(() => ({ items: [] }));
      return Promise.race([page.then(({ items }) => items), late.promise]);
    }),
  );
  clearTimeout(timer);
  for (const [i, { name }] of asked.entries()) {
    for (const lane of lists[i]!) if (lane.waiting > 0) readLane(readings, name, lane);
  }
}

function readLane(readings: Readings, queue: string, lane: LaneStats): void {
  const key = typeof lane.key === "string" ? lane.key : lane.key.join("/");
  const labels = { queue, lane: key.slice(0, LABEL_CHARS_MAX), tier: String(lane.tier) };
  readings.gauge("sluice_lane_waiting", "Jobs of the longest lanes", lane.waiting, labels);
  readings.gauge("sluice_lane_share_owed", "The share they are due", lane.shareOwed, labels);
  const received = "The share they have received";
  readings.gauge("sluice_lane_share_received", received, lane.shareReceived, labels);
}

function readGate(readings: Readings, { key, inFlight, waitingLanes, tokens }: GateInfo): void {
  const labels = { gate: key };
  readings.gauge("sluice_gate_in_flight", "Jobs that run through a gate", inFlight, labels);
  readings.gauge("sluice_gate_waiting_lanes", "Lanes in line at a gate", waitingLanes, labels);
  if (tokens === undefined) return;
  readings.gauge("sluice_gate_tokens", "Tokens that a gate has left", tokens, labels);
}
