// What the bench knows of a system: how its server is started, what its promises are, and what it
// offers. How it is spoken to is in `clients`, for the producer's and the consumer's processes.

import type { Server } from "./server.ts";

// `sync`: nothing is confirmed before it is on the disk. `relaxed`: a crash of the machine may cost
// the last moments, a crash of the server's process nothing.
export type Mode = "sync" | "relaxed";

export type ClientName =
  | "sluice"
  | "bullmq"
  | "bee-queue"
  | "pg-boss"
  | "graphile"
  | "jetstream"
  | "rabbitmq"
  | "beanstalkd";

export interface Running {
  readonly server: Server;
  // Also stopped at the end.
  readonly others?: readonly Server[];
  readonly address: string;
  readonly version: string;
}

// For the page.
export interface Words {
  readonly name: string;
  readonly doesBeyond: string;
  readonly fairness: string;
  readonly limits: string;
}

export interface System extends Words {
  readonly client: ClientName;
  // Told to the client: another way of using the same system.
  readonly variant?: string;
  // The durability in words; a system without the mode takes no part in its rows.
  readonly modes: Readonly<Partial<Record<Mode, string>>>;
  start(dir: string, mode: Mode): Promise<Running>;
}

// What a client is told when it connects.
export interface Place {
  readonly address: string;
  readonly queue: string;
  readonly variant: string | undefined;
  // One job at a time is what matters, not how many in a second.
  readonly isLatency: boolean;
  // Jobs name their tenant to the system.
  readonly isFair: boolean;
  // Handlers side by side; undefined: as many as serve throughput best.
  readonly concurrency: number | undefined;
  // Starts a second that all tenants share; undefined: no limit.
  readonly limitPerSecond: number | undefined;
}

// Its JSON has 512 bytes.
export interface Job {
  readonly id: number;
  readonly tenant: number;
  // When its add was due, in milliseconds of the wall clock.
  readonly at: number;
  readonly text: string;
}

export interface Consumer {
  handle(job: Job): void | Promise<void>;
  // So many acks are stored, or sent where `settle` tells when they are.
  stored(count: number): void;
  failed(error: unknown): void;
}

export interface Client {
  // The batches that serve throughput best.
  readonly bulk: { readonly jobs: number; readonly inFlight: number };
  // It keeps to the limit by itself.
  readonly limits: boolean;
  // Both resolve when the system has confirmed that the jobs are stored.
  addBulk(jobs: readonly Job[]): Promise<void>;
  add(job: Job): Promise<void>;
  // Answers how to stop.
  consume(consumer: Consumer): Promise<() => Promise<void>>;
  // Resolves when the acks so far are stored, for systems that confirm no ack. `held` tells how
  // many jobs are in their handlers.
  settle?(held: () => number): Promise<void>;
}

export type Connect = (place: Place) => Promise<Client>;
