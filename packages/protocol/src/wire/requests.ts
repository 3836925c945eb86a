/** The calls that have a layout of their own and are no batch of jobs or tokens. */
import type { ConsumeOptions, LeaseOptions } from "../port.ts";
import type { FrameReader } from "./reader.ts";
import type { FrameWriter } from "./writer.ts";

const WAIT = 1;
const LEASE = 2;
const WORKER = 4;

export interface LeaseRequest {
  queue: string;
  options: LeaseOptions;
}

export function writeLease(writer: FrameWriter, queue: string, options: LeaseOptions): void {
  const { max, waitMs, leaseMs, worker } = options;
  writer.text(queue);
  writer.u8(
    (waitMs === undefined ? 0 : WAIT) |
      (leaseMs === undefined ? 0 : LEASE) |
      (worker === undefined ? 0 : WORKER),
  );
  writer.f64(max);
  if (waitMs !== undefined) writer.f64(waitMs);
  if (leaseMs !== undefined) writer.f64(leaseMs);
  if (worker !== undefined) writer.text(worker);
}

export function readLease(reader: FrameReader): LeaseRequest {
  const queue = reader.text();
  const flags = reader.flags(WAIT | LEASE | WORKER);
  const options: LeaseOptions = { max: reader.f64() };
  if ((flags & WAIT) !== 0) options.waitMs = reader.f64();
  if ((flags & LEASE) !== 0) options.leaseMs = reader.f64();
  if ((flags & WORKER) !== 0) options.worker = reader.text();
  return { queue, options };
}

export interface ConsumeRequest {
  queue: string;
  options: ConsumeOptions;
}

export function writeConsume(writer: FrameWriter, queue: string, options: ConsumeOptions): void {
  const { worker, credits, leaseMs } = options;
  writer.text(queue);
  writer.u8(leaseMs === undefined ? 0 : LEASE);
  writer.text(worker);
  writer.f64(credits);
  if (leaseMs !== undefined) writer.f64(leaseMs);
}

export function readConsume(reader: FrameReader): ConsumeRequest {
  const queue = reader.text();
  const flags = reader.flags(LEASE);
  const options: ConsumeOptions = { worker: reader.text(), credits: reader.f64() };
  if ((flags & LEASE) !== 0) options.leaseMs = reader.f64();
  return { queue, options };
}
