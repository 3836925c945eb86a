// What the bench knows of a system: how its server is started, what its promises are, and what it
// offers. How it is spoken to is in `clients`, for the producer's and the consumer's processes.

import type { PeerServer } from "./server.ts";

// `sync`: nothing is confirmed before it is on the disk. `relaxed`: a crash of the machine may cost
// the last moments; one of the server's process costs nothing but with PostgreSQL, which keeps what
// it has not written yet in its own memory.
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
  readonly server: PeerServer;
  // Also stopped at the end.
  readonly others?: readonly PeerServer[];
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
  // The durability in words.
  readonly modes: Readonly<Partial<Record<Mode, string>>>;
  // Why it takes no part in the rows of a mode that it lacks.
  readonly lacks?: string;
  start(dir: string, mode: Mode): Promise<Running>;
}

// What a client gets when it connects.
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

// Connected, and takes no job before it is started.
export interface Consumption {
  start(): void | Promise<void>;
  // What was handled is acked; what was not yet is for the next one.
  stop(): Promise<void>;
}

export interface Client {
  // The batches that serve throughput best.
  readonly bulk: { readonly jobs: number; readonly inFlight: number };
  // Jobs that a consumer may have taken and not finished yet.
  readonly takenMax: number;
  // It keeps to the limit by itself.
  readonly limits: boolean;
  // Both resolve when the system has confirmed that the jobs are stored.
  addBulk(jobs: readonly Job[]): Promise<void>;
  add(job: Job): Promise<void>;
  consume(consumer: Consumer): Promise<Consumption>;
  // Resolves when the acks so far are stored, for systems that confirm no ack.
  settle?(): Promise<void>;
}

export type Connect = (place: Place) => Promise<Client>;
