/** Queues, their lanes and what they count. Settings are rare and written as JSON. */
import type { QueueConfig } from "@sluice/engine";
import { type FactCodecs, named, type Plain } from "./fact-types.ts";

type QueueKind =
  | ("queue" | "queue-deleted" | "purged" | "purge-ended")
  | ("weight" | "position" | "key-held" | "counters");

export const QUEUE_FACTS: FactCodecs<QueueKind> = {
  queue: {
    type: 14,
    write(writer, { name, config }) {
      writer.text(name);
      const { running, ...capacity } = config.capacity;
      writer.json({ ...config, capacity: { ...capacity, leased: running } });
    },
    read(reader) {
      const name = reader.name();
      const { capacity, ...config } = reader.object() as StoredConfig;
      if (typeof capacity?.leased !== "number") {
        throw reader.damaged("a queue without its capacity");
      }
      const { leased: running, ...rest } = capacity;
      return { name, config: { ...config, capacity: { ...rest, running } } };
    },
  },
  "queue-deleted": named(15),
  purged: {
    type: 16,
    write(writer, { name, upTo }) {
      writer.text(name);
      writer.number(upTo);
    },
    read: (reader) => ({ name: reader.name(), upTo: reader.number() }),
  },
  "purge-ended": named(17),
  weight: {
    type: 18,
    write(writer, { queue, key, weight }) {
      writer.text(queue);
      writer.texts(key);
      writer.number(weight);
    },
    read: (reader) => ({ queue: reader.name(), key: reader.names(), weight: reader.number() }),
  },
  position: {
    type: 19,
    write(writer, fact) {
      writer.u8(fact.isLevel ? 1 : 0);
      writer.text(fact.queue);
      writer.number(fact.tier);
      writer.texts(fact.path);
      writer.number(fact.rounds);
      writer.number(fact.rem);
    },
    read: (reader) => ({
      isLevel: reader.isTrue(),
      queue: reader.name(),
      tier: reader.number(),
      path: reader.names(),
      rounds: reader.number(),
      rem: reader.number(),
    }),
  },
  "key-held": {
    type: 20,
    write(writer, { at, queue, key, id, until }) {
      writer.text(queue);
      writer.text(key);
      writer.number(id);
      writer.time(until, at);
    },
    read: (reader, at) => ({
      queue: reader.name(),
      key: reader.text(),
      id: reader.number(),
      until: reader.time(at),
    }),
  },
  counters: {
    type: 21,
    write(writer, { isDlq, queue, counters }) {
      writer.u8(isDlq ? 1 : 0);
      writer.text(queue);
      writer.json(counters);
    },
    read: (reader) => ({
      isDlq: reader.isTrue(),
      queue: reader.name(),
      counters: reader.object() as Plain<"counters">["counters"],
    }),
  },
};

/** Logs keep the name that the limit on running jobs had first. */
type StoredConfig = Omit<QueueConfig, "capacity"> & {
  capacity: Omit<QueueConfig["capacity"], "running"> & { leased: number };
};
