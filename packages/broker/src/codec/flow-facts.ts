/** Jobs that wait for each other: their edges, and the flows that are not sealed. */
import type { EdgeRecord } from "@sluice/engine";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { DEPENDENCY_RULES, ENDINGS, FLOW_STATES } from "./codes.ts";
import type { FactCodecs } from "./fact-types.ts";

/** The rule is in the low two bits, the ending above it; 0: the edge is not settled. */
const RULE_BITS = 2;
const RULE = (1 << RULE_BITS) - 1;

export function writeEdges(writer: ByteWriter, edges: readonly EdgeRecord[]): void {
  writer.varint(edges.length);
  for (const { id, on, ending } of edges) {
    const code = ending === undefined ? 0 : ENDINGS.code(ending);
    writer.u8(DEPENDENCY_RULES.code(on) | (code << RULE_BITS));
    writer.number(id);
  }
}

export function readEdges(reader: ByteReader): EdgeRecord[] {
  const edges: EdgeRecord[] = [];
  const count = reader.varint();
  for (let i = 0; i < count; i++) {
    const says = reader.u8();
    const on = DEPENDENCY_RULES.word(says & RULE, reader);
    const id = reader.number();
    const ending = says >>> RULE_BITS;
    edges.push(ending === 0 ? { id, on } : { id, on, ending: ENDINGS.word(ending, reader) });
  }
  return edges;
}

export const FLOW_FACTS: FactCodecs<"flow" | "released" | "linked"> = {
  flow: {
    type: 51,
    write(writer, { flow, state, until }) {
      writer.u8(FLOW_STATES.code(state));
      writer.number(flow);
      writer.number(until);
    },
    read(reader) {
      const state = FLOW_STATES.word(reader.u8(), reader);
      return { flow: reader.number(), state, until: reader.number() };
    },
  },
  released: {
    type: 52,
    write(writer, { ids }) {
      writer.varint(ids.length);
      for (const id of ids) writer.number(id);
    },
    read(reader) {
      const ids: number[] = [];
      const count = reader.varint();
      for (let i = 0; i < count; i++) ids.push(reader.number());
      return { ids };
    },
  },
  linked: {
    type: 53,
    write(writer, { id, after }) {
      writer.number(id);
      writeEdges(writer, after);
    },
    read: (reader) => ({ id: reader.number(), after: readEdges(reader) }),
  },
};
