// One cluster under load, faults one after the other, and the judgement in the end: the history of
// what clients were answered, and the stores of the NATS servers compared byte by byte.

import { jetstreamManager } from "@nats-io/jetstream";
import { connectNats } from "@sluice/log/nats";
import { ClusterLoad, wait } from "../cluster-load.ts";
import { FaultCluster } from "./fault-cluster.ts";
import type { Fault, Pick } from "./faults.ts";
import { PlainPublisher } from "./plain-publisher.ts";
import { PartitionProbe } from "./probe.ts";
import { compareStores } from "./stores.ts";
import { StreamLeaders } from "./stream-leaders.ts";
import { Timeline } from "./timeline.ts";

// Small enough to be filled, large enough for what a run stores.
const DISK_BYTES = 250 * 1024 * 1024;
const CURRENT_MS = 60_000;
const SHOWN = 10;
// A recovery that takes longer is reported with its timeline, also where there is no goal.
const OTHER_GOAL_MS = 10_000;

export interface FaultRun {
  readonly version: string;
  readonly faults: readonly Fault[];
  readonly pick: Pick;
  tell(line: Record<string, unknown>): void;
}

export interface Verdict {
  readonly confirmed: number;
  readonly violations: readonly string[];
  readonly messages: number;
  readonly differences: number;
}

export async function runFaults({ version, faults, pick, tell }: FaultRun): Promise<Verdict> {
  const diskBytes = faults.some(({ needsDisk }) => needsDisk) ? DISK_BYTES : undefined;
  const cluster = await FaultCluster.start({ version, diskBytes });
  const ends: (() => unknown)[] = [];
  try {
    const load = await ClusterLoad.start(
      { after: (end) => void ends.push(end as () => unknown) },
      cluster,
      { lateMs: Number.POSITIVE_INFINITY },
    );
    const probe = await PartitionProbe.start(load.broker, load.history, cluster.partitions);
    const plain = await PlainPublisher.start(cluster.nats.urls);
    const leaders = await StreamLeaders.start(cluster.nats.urls, cluster.partitions);
    const timeline = new Timeline(cluster.nodes);
    ends.push(() => timeline.stop());
    probe.onSilence = (text) => timeline.say(text);
    const probes = { probe, plain, leaders, timeline };
    for (const fault of faults) tell(await injectOne(cluster, probes, fault, pick));
    await plain.stop();
    await leaders.stop();
    await probe.stop();
    const violations = await judge(load);
    const { confirmed } = load.history;
    for (const end of ends.splice(0)) await end();
    const { messages, differences } = await comparedStores(cluster);
    const shown = differences.slice(0, SHOWN).map(({ stream, sequence, found }) => {
      const kinds = found.map((one) => one?.length ?? "none").join(", ");
      return `${stream} at ${sequence}: bytes by server ${kinds}`;
    });
    return {
      confirmed,
      violations: [...violations, ...shown],
      messages,
      differences: differences.length,
    };
  } finally {
    for (const end of ends) await end();
    await cluster.stop();
  }
}

interface Probes {
  readonly probe: PartitionProbe;
  readonly plain: PlainPublisher;
  readonly leaders: StreamLeaders;
  readonly timeline: Timeline;
}

async function injectOne(
  cluster: FaultCluster,
  { probe, plain, leaders, timeline }: Probes,
  fault: Fault,
  pick: Pick,
): Promise<Record<string, unknown>> {
  const begin = async (): Promise<void> => {
    await probe.more();
    probe.mark();
    plain.mark();
    leaders.mark();
    timeline.mark();
  };
  const compared = fault.isBeyondPlain ? { plainLed: await prepared(cluster, plain) } : {};
  await begin();
  const healed = await fault.inject(cluster, pick, begin);
  timeline.say("injected");
  await wait(fault.holdMs);
  // Faults during which no node can serve are measured from their end.
  const before = probe.silence();
  timeline.say("to be healed");
  await healed();
  timeline.say("healed");
  if (fault.isTotal) {
    probe.mark();
    plain.mark();
    leaders.mark();
  }
  await cluster.settled();
  await probe.more();
  const { addMs, dispatchMs } = probe.silence();
  const plainMs = plain.silenceMs();
  const goalMs = (fault.goalMs ?? OTHER_GOAL_MS) + (fault.isBeyondPlain ? plainMs : 0);
  return {
    fault: fault.name,
    addMs,
    dispatchMs,
    plainMs,
    leaderlessMs: leaders.silenceMs(),
    ...compared,
    ...(Math.max(addMs, dispatchMs) > goalMs ? { timeline: timeline.lines } : {}),
    ...(fault.isTotal ? { heldMs: before.addMs } : {}),
  };
}

// How many plain streams are led by the server that is about to fail, as those of partitions are.
async function prepared(cluster: FaultCluster, plain: PlainPublisher): Promise<number> {
  await plain.followLeaders(cluster.nats);
  return plain.ledBy(cluster.nats, await cluster.leadingServer());
}

async function judge(load: ClusterLoad): Promise<readonly string[]> {
  try {
    await load.finish({ diagnostic: (text) => void process.stderr.write(`${text}\n`) });
  } catch (error) {
    if (load.history.failures.length === 0) throw error;
  }
  return load.history.failures;
}

async function comparedStores(cluster: FaultCluster): Promise<ReturnType<typeof compareStores>> {
  await cluster.stopNodes();
  const connection = await connectNats(cluster.nats.urls);
  const manager = await jetstreamManager(connection);
  const firsts = new Map<string, number>();
  try {
    const endAt = Date.now() + CURRENT_MS;
    for (let i = 0; i < cluster.partitions; i++) {
      const stream = `sluice-${i}`;
      for (;;) {
        const info = await manager.streams.info(stream).catch(() => undefined);
        const replicas = info?.cluster?.replicas ?? [];
        const isCurrent = replicas.length === 2 && replicas.every((one) => one.current && !one.lag);
        const isLate = Date.now() > endAt;
        if (info === undefined && isLate) throw new Error(`${stream} cannot be looked at`);
        // A server may call a copy late that is whole: what is stored decides.
        if (info !== undefined && (isCurrent || isLate)) {
          firsts.set(stream, info.state.first_seq);
          break;
        }
        await wait(100);
      }
    }
  } finally {
    await connection.close();
  }
  const servers = [0, 1, 2];
  await Promise.all(servers.map((index) => cluster.nats.kill(index, "SIGTERM")));
  const stores = servers.map((index) => cluster.nats.storeOf(index));
  return compareStores(stores, "sluice-", (stream) => firsts.get(stream) ?? 0);
}
