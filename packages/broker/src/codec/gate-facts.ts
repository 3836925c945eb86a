/** Gates: their limits, what was reported of them, and permits that partitions lend each other. */
import type { GateConfig, LotUse } from "@sluice/engine";
import type { FactCodecs, Plain } from "./fact-types.ts";

type GateKind =
  | ("gate" | "charged" | "cooled" | "cleared" | "reported" | "gate-state")
  | ("life" | "borrower" | "lent" | "lots" | "lot-expired");

/** Limits and saves are rare: JSON. */
export const GATE_FACTS: FactCodecs<GateKind> = {
  gate: {
    type: 22,
    write(writer, { key, config }) {
      writer.u8(config === undefined ? 0 : 1);
      writer.text(key);
      if (config !== undefined) writer.json(config);
    },
    read(reader) {
      const hasConfig = reader.isTrue();
      const key = reader.name();
      return { key, config: hasConfig ? (reader.object() as GateConfig) : undefined };
    },
  },
  cooled: {
    type: 23,
    write(writer, { at, key, until, reason }) {
      writer.text(key);
      writer.time(until, at);
      writer.text(reason);
    },
    read: (reader, at) => ({
      key: reader.name(),
      until: reader.time(at),
      reason: reader.text(),
    }),
  },
  charged: {
    type: 57,
    write(writer, { key, cost }) {
      writer.text(key);
      writer.number(cost);
    },
    read: (reader) => ({ key: reader.name(), cost: reader.number() }),
  },
  cleared: {
    type: 24,
    write: (writer, { key }) => writer.text(key),
    read: (reader) => ({ key: reader.name() }),
  },
  reported: {
    type: 25,
    write(writer, { ok, key }) {
      writer.u8(ok ? 1 : 0);
      writer.text(key);
    },
    read: (reader) => ({ ok: reader.isTrue(), key: reader.name() }),
  },
  "gate-state": {
    type: 26,
    write(writer, { key, save }) {
      writer.text(key);
      writer.json(save);
    },
    read: (reader) => ({
      key: reader.name(),
      save: reader.object() as Plain<"gate-state">["save"],
    }),
  },
  life: {
    type: 36,
    write(writer, { life, lot }) {
      writer.number(life);
      writer.number(lot);
    },
    read: (reader) => ({ life: reader.number(), lot: reader.number() }),
  },
  borrower: {
    type: 37,
    write(writer, { name, life }) {
      writer.text(name);
      writer.number(life);
    },
    read: (reader) => ({ name: reader.name(), life: reader.number() }),
  },
  lent: {
    type: 38,
    write(writer, { at, key, borrower, lot, cost, jobs, until }) {
      writer.text(key);
      writer.text(borrower);
      writer.number(lot);
      writer.number(cost);
      writer.number(jobs);
      writer.time(until, at);
    },
    read: (reader, at) => ({
      key: reader.name(),
      borrower: reader.name(),
      lot: reader.number(),
      cost: reader.number(),
      jobs: reader.number(),
      until: reader.time(at),
    }),
  },
  lots: {
    type: 39,
    write(writer, { key, borrower, held, uses }) {
      writer.text(key);
      writer.text(borrower);
      writer.number(held);
      writer.varint(uses.length);
      for (const { lot, usedCost, usedJobs, isOver } of uses) {
        writer.u8(isOver ? 1 : 0);
        writer.number(lot);
        writer.number(usedCost);
        writer.number(usedJobs);
      }
    },
    read(reader) {
      const key = reader.name();
      const borrower = reader.name();
      const held = reader.number();
      const uses: LotUse[] = [];
      for (let left = reader.varint(); left > 0; left--) {
        const isOver = reader.isTrue();
        const [lot, usedCost, usedJobs] = [reader.number(), reader.number(), reader.number()];
        uses.push({ lot, usedCost, usedJobs, isOver });
      }
      return { key, borrower, held, uses };
    },
  },
  "lot-expired": {
    type: 40,
    write(writer, { key, lot }) {
      writer.text(key);
      writer.number(lot);
    },
    read: (reader) => ({ key: reader.name(), lot: reader.number() }),
  },
};
