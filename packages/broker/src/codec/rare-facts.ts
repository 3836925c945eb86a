/** The facts that are not of one job: groups, stores, operations and the broker; all of them. */
import { LEASE_SECRET_BYTES } from "../limits.ts";
import { ENDINGS } from "./codes.ts";
import { type FactCodecs, named, type Plain, type RareKind } from "./fact-types.ts";
import { FLOW_FACTS } from "./flow-facts.ts";
import { GATE_FACTS } from "./gate-facts.ts";
import { FEATURE_LEVEL, tooNew } from "./levels.ts";
import { QUEUE_FACTS } from "./queue-facts.ts";
import { SCHEDULE_FACTS } from "./schedule-facts.ts";

const ENDED = 1;
const HELD = 2;

/** Instead of an ending, for a member that has none yet. */
const OPEN = 0;

/** A kind of fact that has no row does not compile. */
export const RARE_FACTS: FactCodecs<RareKind> = {
  ...QUEUE_FACTS,
  ...GATE_FACTS,
  ...SCHEDULE_FACTS,
  ...FLOW_FACTS,
  group: {
    type: 27,
    write(writer, { ended, held, name, members }) {
      writer.u8((ended ? ENDED : 0) | (held ? HELD : 0));
      writer.text(name);
      writer.varint(members.length);
      for (const [id, ending] of members) {
        writer.number(id);
        writer.u8(ending === undefined ? OPEN : ENDINGS.code(ending));
      }
    },
    read(reader) {
      const flags = reader.flags(ENDED | HELD);
      const name = reader.name();
      const members: Plain<"group">["members"][number][] = [];
      const count = reader.varint();
      for (let i = 0; i < count; i++) {
        const id = reader.number();
        const code = reader.u8();
        members.push([id, code === OPEN ? undefined : ENDINGS.word(code, reader)]);
      }
      return { name, members, ended: (flags & ENDED) !== 0, held: (flags & HELD) !== 0 };
    },
  },
  "group-ended": named(28),
  "group-held": named(32),
  "group-released": named(33),
  /** A value is anything that JSON can carry; undefined deletes its key. */
  stored: {
    type: 29,
    write(writer, { store, key, value }) {
      writer.u8(value === undefined ? 0 : 1);
      writer.text(store);
      writer.text(key);
      if (value !== undefined) writer.json(value);
    },
    read(reader) {
      const hasValue = reader.isTrue();
      const store = reader.name();
      const key = reader.text();
      return { store, key, value: hasValue ? reader.json() : undefined };
    },
  },
  /** What an operation was answered, as JSON: answers are few, and errors are among them. */
  answered: {
    type: 34,
    write(writer, { operation, call, since, answers }) {
      writer.text(operation);
      writer.text(call);
      writer.number(since);
      writer.json(answers);
    },
    read: (reader) => ({
      operation: reader.text(),
      call: reader.text(),
      since: reader.number(),
      answers: reader.json() as Plain<"answered">["answers"],
    }),
  },
  ids: {
    type: 30,
    write(writer, { last, seq }) {
      writer.number(last);
      writer.number(seq);
    },
    read: (reader) => ({ last: reader.number(), seq: reader.number() }),
  },
  wall: {
    type: 35,
    write: (writer, { aheadMs }) => writer.number(aheadMs),
    read: (reader) => ({ aheadMs: reader.number() }),
  },
  /** Read before anything that needs it: a release that is too old stops here. */
  level: {
    type: 47,
    write(writer, { level, needs }) {
      writer.varint(level);
      writer.text(needs);
    },
    read(reader) {
      const level = reader.varint();
      const needs = reader.text();
      if (level > FEATURE_LEVEL) throw tooNew("the log", level, needs);
      return { level, needs };
    },
  },
  "lease-secret": {
    type: 46,
    write: (writer, { secret }) => writer.blob(secret),
    read(reader) {
      // A copy: what is read is a view of a batch.
      const secret = new Uint8Array(reader.blob());
      if (secret.length === LEASE_SECRET_BYTES) return { secret };
      throw reader.damaged(`a secret of leases of ${secret.length} bytes`);
    },
  },
};
