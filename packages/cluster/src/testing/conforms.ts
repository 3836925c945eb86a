import assert from "node:assert/strict";
import { test } from "node:test";
import type { Broker, QueueOptions } from "@sluice/protocol";
import {
  brokerConformance,
  type HowItEnds,
  type Opened,
  type Register,
} from "@sluice/protocol/conformance";
import { turningClock, turns } from "@sluice/protocol/testing";
import { MemoryDirectory } from "../directory.ts";
import { MemoryCluster } from "./memory-cluster.ts";

/** Turns of the event loop after which all that needs no time has come through. */
const TURNS = 16;
const CASE_MS_MAX = 20_000;

export interface ClusterCase {
  readonly partitions: number;
  /** Every queue that is made is spread over so many of them. Default 1. */
  readonly spread?: number;
  /** The subjects that such a cluster cannot break; see `brokerConformance`. */
  readonly skipped?: RegExp;
  /** The subjects of the suite that are run. Default: all. */
  readonly subjects?: RegExp;
  /**
   * What does not hold in such a cluster: the end of a sentence of the suite, and why. Each is run,
   * and must fail. If you make one hold, take it off the list.
   */
  readonly exceptions: Readonly<Record<string, string>>;
}

/** Runs the suite of the port against a router over partitions on memory logs. */
export function conforms(name: string, { partitions, spread = 1, ...which }: ClusterCase): void {
  const { exceptions, subjects, skipped } = which;
  const register: Register = (sentence, run) => {
    if (subjects?.test(sentence.slice(name.length + 2)) === false) return undefined;
    const about = Object.keys(exceptions).find((end) => sentence.endsWith(end));
    if (about === undefined) return test(sentence, { timeout: CASE_MS_MAX }, run);
    const title = `${sentence}: does not hold, because ${exceptions[about]}`;
    return test(title, { timeout: CASE_MS_MAX }, async (t) => {
      await assert.rejects(run(t), { name: "Unmet" });
    });
  };
  const open = opener(partitions, spread);
  brokerConformance(name, open, register, skipped === undefined ? {} : { skipped });
}

function opener(partitions: number, spread: number): () => Promise<Opened> {
  return async () => {
    const clock = turningClock(TURNS);
    const options = { directory: new MemoryDirectory(partitions), clock, quietMs: 0 };
    let cluster = new MemoryCluster(options);
    return {
      broker: spreading(cluster.router, spread),
      now: () => clock.now(),
      advance: (ms) => clock.advance(ms),
      async reopen(how: HowItEnds) {
        // Callers do not wait for what partitions report to each other: a permit whose use was not
        // reported before a crash stays lent until its time is over (docs/scheduling.md).
        await turns(TURNS);
        await cluster.end(how);
        await turns(TURNS);
        cluster = new MemoryCluster(options, cluster);
        return spreading(cluster.router, spread);
      },
      close: () => cluster.end("close"),
    };
  };
}

function spreading(broker: Broker, spread: number): Broker {
  if (spread === 1) return broker;
  return new Proxy(broker, {
    get(target, name) {
      if (name === "setQueue") {
        return (queue: string, options: QueueOptions) =>
          target.setQueue(queue, { ...options, spread });
      }
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
