// Everybody who takes part, each at its best documented settings.

import { startBeanstalkd } from "./servers/beanstalkd.ts";
import { startNats } from "./servers/nats.ts";
import { startPostgres } from "./servers/postgres.ts";
import { startRabbit } from "./servers/rabbitmq.ts";
import { startRedis } from "./servers/redis.ts";
import { startSluice } from "./servers/sluice.ts";
import type { System, Words } from "./system.ts";

const REDIS_MODES = {
  sync: "appendfsync always: on disk before the answer",
  relaxed: "appendfsync everysec: up to a second can be lost",
};
const POSTGRES_MODES = {
  sync: "fsync on, synchronous_commit on: on disk before the answer",
  relaxed: "synchronous_commit off: up to 0.6 s can be lost, with the server's process too",
};
const IN_CONSUMER = "none of its own: one in the consumer, as its users do (here p-queue's)";

export const SLUICE = "Sluice";
// For the rows in which every system that can do so confirms a job only when it is on disk.
export const SYNCED = "everybody but JetStream syncs";

const NO_RELAXED = "it confirms a persistent message after the sync, and knows nothing between";

export const SYSTEMS: readonly System[] = [
  {
    name: SLUICE,
    client: "sluice",
    modes: {
      sync: "fsync: adds, leases and acks are on disk before the answer",
      relaxed: "os: with the operating system before the answer",
    },
    doesBeyond: "",
    fairness: "a lane for each tenant, served in turns, with weights",
    limits: "a gate that all jobs name: the server starts none that may not run",
    start: startSluice,
  },
  {
    name: "BullMQ",
    client: "bullmq",
    modes: REDIS_MODES,
    doesBeyond: "trees of jobs (flows), clients in Python, Elixir, PHP and Rust, Redis Cluster",
    fairness: "none: groups are a part of BullMQ Pro; the free one is FIFO with priorities",
    limits: "the queue's limiter: so many in each fixed second, for all workers together",
    start: startRedis,
  },
  {
    name: "Bee-Queue",
    client: "bee-queue",
    modes: REDIS_MODES,
    doesBeyond: "runs on a Redis that is there already",
    fairness: "none: FIFO",
    limits: IN_CONSUMER,
    start: startRedis,
  },
  {
    name: "pg-boss",
    client: "pg-boss",
    modes: POSTGRES_MODES,
    doesBeyond:
      "adds in the transaction of your own data, SQL over jobs, replication by PostgreSQL",
    fairness: "no shares; a group may be kept to some handlers at a time (here a quarter of them)",
    limits: IN_CONSUMER,
    start: startPostgres,
  },
  {
    name: "Graphile Worker",
    client: "graphile",
    modes: POSTGRES_MODES,
    doesBeyond: "adds in the transaction of your own data, from triggers in SQL too",
    fairness:
      "none: FIFO with priorities; a named queue for each tenant would run its jobs one at a time",
    limits: IN_CONSUMER,
    start: startPostgres,
  },
  {
    name: "Graphile Worker, batched",
    client: "graphile",
    variant: "batched",
    modes: POSTGRES_MODES,
    doesBeyond: "the same, with a local queue and completions in batches",
    fairness: "the same",
    limits: IN_CONSUMER,
    start: startPostgres,
  },
  {
    name: "NATS JetStream",
    client: "jetstream",
    modes: {
      sync: "not synced: file storage, publish acks; synced every two minutes",
      relaxed: "file storage, publish acks; synced every two minutes",
    },
    doesBeyond: "replicas by Raft, subjects with wildcards, replay of streams, clients everywhere",
    fairness: "none: a work queue is FIFO",
    limits: "bits a second for a push consumer, no jobs a second: one in the consumer (p-queue's)",
    start: startNats,
  },
  {
    name: "RabbitMQ, quorum queue",
    client: "rabbitmq",
    variant: "quorum",
    modes: { sync: "quorum queue of one node, publisher confirms: its log is synced before them" },
    lacks: NO_RELAXED,
    doesBeyond: "replicas by Raft, exchanges that route, AMQP, MQTT and STOMP, federation",
    fairness: "none: a queue is FIFO",
    limits: IN_CONSUMER,
    start: startRabbit,
  },
  {
    name: "RabbitMQ, classic queue",
    client: "rabbitmq",
    variant: "classic",
    modes: {
      sync: "durable classic queue, persistent messages, publisher confirms after the sync",
    },
    lacks: NO_RELAXED,
    doesBeyond: "the same, without replicas",
    fairness: "none: a queue is FIFO",
    limits: IN_CONSUMER,
    start: startRabbit,
  },
  {
    name: "beanstalkd",
    client: "beanstalkd",
    modes: {
      sync: "binlog with -f0: each put and delete is synced before the answer",
      relaxed: "binlog with -f50: up to 50 ms can be lost",
    },
    doesBeyond: "a protocol of lines that every language speaks, a very small program",
    fairness: "none: by priority, then FIFO, over all tubes",
    limits: IN_CONSUMER,
    start: startBeanstalkd,
  },
];

// Those who live in the process that uses them, in words.
export const IN_PROCESS: readonly Words[] = [
  {
    name: "plainjob on better-sqlite3",
    doesBeyond: "its jobs are rows of an SQLite file that other programs can read; cron schedules",
    fairness: "none: FIFO",
    limits: "none",
  },
  {
    name: "p-queue",
    doesBeyond: "runs in browsers, queues closures",
    fairness: "none: by priority, then FIFO",
    limits: "so many starts in a fixed or sliding interval",
  },
  {
    name: "fastq",
    doesBeyond: "callbacks without promises, reuse of its entries, almost no cost",
    fairness: "none: FIFO",
    limits: "none: concurrency alone",
  },
  {
    name: "Bottleneck",
    doesBeyond: "wraps any function, shares its limits through Redis",
    fairness: "none: by priority, then FIFO; groups are limiters of their own",
    limits: "least time between starts, and a reservoir that is refilled",
  },
];
