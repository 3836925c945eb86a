/** The commands, in the order of the help text. */
import type { CommandEntry } from "../command.ts";
import { APP_ENTRIES } from "./apps.ts";

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "serve",
    summary: "run a server; no configuration is needed",
    load: async () => (await import("./serve.ts")).serveCommand,
  },
  {
    name: "queue",
    summary: "queues: list, show, make or change, pause, purge, lanes, workers, jobs",
    load: async () => (await import("./queue.ts")).queueCommand,
  },
  {
    name: "add",
    summary: "add a job, or one for each line of standard input",
    load: async () => (await import("./add.ts")).addCommand,
  },
  {
    name: "consume",
    summary: "take jobs: print them, or run a program for each",
    load: async () => (await import("./consume.ts")).consumeCommand,
  },
  {
    name: "job",
    summary: "one job: show, history, cancel, retry",
    load: async () => (await import("./job.ts")).jobCommand,
  },
  {
    name: "jobs",
    summary: "jobs of all queues: find, count, failures, retry, cancel, delete, run, move",
    load: async () => (await import("./jobs.ts")).jobsCommand,
  },
  {
    name: "why",
    summary: "why a job is not running, in a sentence",
    load: async () => (await import("./job.ts")).whyCommand,
  },
  {
    name: "flow",
    summary: "jobs that wait for each other: add, show, seal, cancel",
    load: async () => (await import("./flow.ts")).flowCommand,
  },
  {
    name: "gate",
    summary: "limits: list, show, set, delete, cooldown, clear",
    load: async () => (await import("./gate.ts")).gateCommand,
  },
  {
    name: "schedule",
    summary: "schedules: list, show, set, pause, resume, run, backfill, delete",
    load: async () => (await import("./schedule.ts")).scheduleCommand,
  },
  {
    name: "signal",
    summary: "send a value to a job whose step waits for it",
    load: async () => (await import("./signal.ts")).signalCommand,
  },
  {
    name: "redrive",
    summary: "put dead letters back where they came from",
    load: async () => (await import("./redrive.ts")).redriveCommand,
  },
  {
    name: "call",
    summary: "any call of the API, by its name",
    load: async () => (await import("./call.ts")).callCommand,
  },
  {
    name: "top",
    summary: "a live view: queues, lanes with their shares, gates with their levels",
    load: async () => (await import("./top.ts")).topCommand,
  },
  {
    name: "events",
    summary: "what happens, as it happens",
    load: async () => (await import("./events.ts")).eventsCommand,
  },
  {
    name: "context",
    summary: "several servers by name: list, add, use, remove",
    load: async () => (await import("./context.ts")).contextCommand,
  },
  {
    name: "cluster",
    summary: "a cluster: show, create, grow, drain, move, backup, restore",
    load: async () => (await import("./cluster.ts")).clusterCommand,
  },
  {
    name: "postgres",
    summary: "jobs added in PostgreSQL transactions: install, status, retry",
    load: async () => (await import("./postgres.ts")).postgresCommand,
  },
  {
    name: "import",
    summary: "move waiting and delayed jobs here from pg-boss or Graphile Worker",
    load: async () => (await import("./import.ts")).importCommand,
  },
  {
    name: "bench",
    summary: "how fast this server is, from here: add, deliver, ack",
    load: async () => (await import("./bench.ts")).benchCommand,
  },
  {
    name: "log",
    summary: "a log that no process has open: check, repair, copy",
    load: async () => (await import("./log.ts")).logCommand,
  },
  {
    name: "keys",
    summary: "API keys: list, create, set, revoke",
    load: async () => (await import("./keys.ts")).keysCommand,
  },
  {
    name: "audit",
    summary: "who did what and when",
    load: async () => (await import("./audit.ts")).auditCommand,
  },
  {
    name: "webhooks",
    summary: "addresses that are called when something happens: list, create, test, delete",
    load: async () => (await import("./webhooks.ts")).webhooksCommand,
  },
  {
    name: "config",
    summary: "what policies read: list, get, set, delete",
    load: async () => (await import("./config.ts")).configCommand,
  },
  ...APP_ENTRIES,
  {
    name: "mcp",
    summary: "the calls of a server as tools for an AI assistant (MCP)",
    load: async () => (await import("./mcp.ts")).mcpCommand,
  },
  {
    name: "completion",
    summary: "completions for bash, zsh or fish",
    load: async () => (await import("./completion.ts")).completionOf(COMMANDS),
  },
  {
    name: "version",
    summary: "the version of this program",
    load: async () => (await import("./version.ts")).versionCommand,
  },
];
