// All benches, each with the groups of its figures.

import { beatsGroups } from "./cluster/beats.ts";
import { forwardingGroups } from "./cluster/forwarding.ts";
import { gateGroups } from "./cluster/gate.ts";
import { idleGroups } from "./cluster/idle.ts";
import { lifecycleGroups } from "./cluster/lifecycle.ts";
import { spreadGroups } from "./cluster/spread.ts";
import { takeoverGroups } from "./cluster/takeover.ts";
import { fifoGroups as embeddedFifoGroups } from "./embedded/fifo.ts";
import { oneAtATimeGroups as embeddedOneAtATimeGroups } from "./embedded/one-at-a-time.ts";
import { peerGroups } from "./embedded/peer.ts";
import { throughputGroups as embeddedThroughputGroups } from "./embedded/throughput.ts";
import { closedGateGroups } from "./engine/closed-gate.ts";
import { fifoGroups as engineFifoGroups } from "./engine/fifo.ts";
import { memoryGroups } from "./engine/memory.ts";
import { saturatedGateGroups } from "./engine/saturated-gate.ts";
import { shockGroups } from "./engine/shocks.ts";
import { stallGroups } from "./engine/stall.ts";
import { throughputGroups as engineThroughputGroups } from "./engine/throughput.ts";
import type { Bench } from "./figure.ts";
import { blockedMemory } from "./flows/blocked-memory.ts";
import { bullmqFlows } from "./flows/bullmq.ts";
import { fanIn } from "./flows/fan-in.ts";
import { jobSchedulers } from "./flows/job-schedulers.ts";
import { schedulesDue } from "./flows/schedules-due.ts";
import { steps } from "./flows/steps.ts";
import { bulkRetry } from "./jobs/bulk-retry.ts";
import { findJobs } from "./jobs/find-jobs.ts";
import { computingGroups } from "./jobserver/computing.ts";
import { smallGroups } from "./jobserver/small-handlers.ts";
import { submissionGroups } from "./jobserver/submissions.ts";
import { natsBench } from "./nats/bench.ts";
import { peersBench } from "./peers/bench.ts";
import { costGroups as streamCostGroups } from "./policy/cost.ts";
import { addsGroup } from "./postgres/adds.ts";
import { latencyGroup, lifeGroup } from "./postgres/life.ts";
import { relayGroup } from "./postgres/relay.ts";
import { profileBench } from "./profile/bench.ts";
import { startGroups } from "./recovery/start.ts";
import { steadyGroups } from "./recovery/steady.ts";
import { waitingGroups } from "./recovery/waiting.ts";
import { scaleBench } from "./scale/bench.ts";
import { bodyGroups } from "./stream/bodies.ts";
import { httpGroups } from "./stream/http.ts";
import { oneAtATimeGroups as streamOneAtATimeGroups } from "./stream/one-at-a-time.ts";
import { throughputGroups as streamThroughputGroups } from "./stream/throughput.ts";
import { costGroups as torznabCostGroups } from "./torznab/cost.ts";
import { feedGroups } from "./torznab/feeds.ts";
import { limitGroups } from "./torznab/limits.ts";
import { pagingGroups } from "./torznab/paging.ts";
import { saturatedGroups } from "./torznab/saturated.ts";
import { announceGroups } from "./tracker/announces.ts";
import { floodGroups } from "./tracker/flood.ts";
import { slowForwarderGroups } from "./tracker/slow-forwarders.ts";
import { threadHopGroups } from "./tracker/thread-hop.ts";

export const BENCHES: readonly Bench[] = [
  // The engine alone, without a log, a broker or a socket, on one core.
  {
    name: "engine",
    groups: [
      ...engineThroughputGroups,
      ...engineFifoGroups,
      ...saturatedGateGroups,
      ...closedGateGroups,
      ...memoryGroups,
      ...stallGroups,
      ...shockGroups,
    ],
  },
  // The whole library in one process, as its users run it: `Sluice.open`, a queue, a worker.
  {
    name: "embedded",
    groups: [
      ...embeddedThroughputGroups,
      ...embeddedOneAtATimeGroups,
      ...embeddedFifoGroups,
      ...peerGroups,
    ],
  },
  // What a restart and a long life cost: time, memory and disk.
  { name: "recovery", groups: [...startGroups, ...waitingGroups, ...steadyGroups] },
  natsBench,
  // Jobs in transactions of PostgreSQL and a log in PostgreSQL, beside two queues that live in it.
  { name: "postgres", groups: [addsGroup, lifeGroup, latencyGroup, relayGroup] },
  // Several nodes on NATS: what a job costs there beside plain JetStream, what forwarding costs,
  // and how exact a gate is that nodes share.
  {
    name: "cluster",
    groups: [
      ...lifecycleGroups,
      ...spreadGroups,
      ...forwardingGroups,
      ...gateGroups,
      ...idleGroups,
      ...beatsGroups,
      ...takeoverGroups,
    ],
  },
  // Jobs that wait for other jobs, jobs in steps, and schedules.
  {
    name: "flows",
    groups: [blockedMemory, fanIn, steps, bullmqFlows, schedulesDue, jobSchedulers],
  },
  // Finding jobs of all queues, and acting on many of them.
  { name: "jobs", groups: [findJobs, bulkRetry] },
  scaleBench,
  // The broker on the network: producer, server and consumer in processes of their own.
  {
    name: "stream",
    groups: [
      ...streamThroughputGroups,
      ...streamOneAtATimeGroups,
      ...httpGroups,
      ...bodyGroups,
      ...streamCostGroups,
    ],
  },
  // The job server: submissions under an open load, the same beside handlers that compute, and what
  // it costs that handlers run in threads.
  { name: "jobserver", groups: [...submissionGroups, ...computingGroups, ...smallGroups] },
  // The search service: what its limits promise under load, what a task costs, and large feeds.
  {
    name: "torznab",
    groups: [
      ...limitGroups,
      ...saturatedGroups,
      ...pagingGroups,
      ...torznabCostGroups,
      ...feedGroups,
    ],
  },
  // The retracker beside opentracker and npm's bittorrent-tracker: announces a second over each
  // protocol; what forwarders that do not answer and a flood cost its clients; what threads would.
  {
    name: "tracker",
    groups: [...announceGroups, ...slowForwarderGroups, ...floodGroups, ...threadHopGroups],
  },
  peersBench,
  profileBench,
];
