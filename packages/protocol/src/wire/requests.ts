/** The calls that have a layout of their own and are no batch of jobs or tokens. */
import * as kinds from "../duration.ts";
import type { ConsumeOptions, LeaseOptions } from "../port.ts";
import type { FrameReader } from "./reader.ts";
import type { FrameWriter } from "./writer.ts";

const WAIT = 1;
const LEASE = 2;
const WORKER = 4;
const PLACE = 8;

export interface LeaseRequest {
  queue: string;
  options: LeaseOptions;
}

export function writeLease(writer: FrameWriter, queue: string, options: LeaseOptions): void {
  const { max, wait, lease, worker } = options;
  writer.text(queue);
  writer.u8(
    (wait === undefined ? 0 : WAIT) |
      (lease === undefined ? 0 : LEASE) |
      (worker === undefined ? 0 : WORKER),
  );
  writer.f64(max);
  if (wait !== undefined) writer.f64(kinds.WAIT.parse("wait", wait));
  if (lease !== undefined) writer.f64(kinds.LEASE.parse("lease", lease));
  if (worker !== undefined) writer.text(worker);
}

export function readLease(reader: FrameReader): LeaseRequest {
  const queue = reader.text();
  const flags = reader.flags(WAIT | LEASE | WORKER);
  const options: LeaseOptions = { max: reader.f64() };
  if ((flags & WAIT) !== 0) options.wait = reader.f64();
  if ((flags & LEASE) !== 0) options.lease = reader.f64();
  if ((flags & WORKER) !== 0) options.worker = reader.text();
  return { queue, options };
}

export interface ConsumeRequest {
  queue: string;
  options: ConsumeOptions;
}

export function writeConsume(writer: FrameWriter, queue: string, options: ConsumeOptions): void {
  const { worker, credits, lease, place } = options;
  writer.text(queue);
  writer.u8((lease === undefined ? 0 : LEASE) | (place === undefined ? 0 : PLACE));
  writer.text(worker);
  writer.f64(credits);
  if (lease !== undefined) writer.f64(kinds.LEASE.parse("lease", lease));
  if (place === undefined) return;
  writer.text(place.host);
  writer.f64(place.process);
  writer.text(place.version);
}

export function readConsume(reader: FrameReader): ConsumeRequest {
  const queue = reader.text();
  const flags = reader.flags(LEASE | PLACE);
  const options: ConsumeOptions = { worker: reader.text(), credits: reader.f64() };
  if ((flags & LEASE) !== 0) options.lease = reader.f64();
  if ((flags & PLACE) !== 0) {
    options.place = { host: reader.text(), process: reader.f64(), version: reader.text() };
  }
  return { queue, options };
}
