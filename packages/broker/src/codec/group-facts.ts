/** Groups: who is in one, and how each of them ended. */
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { ENDINGS } from "./codes.ts";
import type { Plain } from "./fact-fields.ts";
import { FACT_TYPES } from "./fact-types.ts";

const ENDED = 1;
const HELD = 2;

/** Instead of an ending, for a member that has none yet. */
const OPEN = 0;

export function writeGroup(writer: ByteWriter, fact: Plain<"group">): void {
  writer.head(FACT_TYPES.group, fact.at);
  writer.u8((fact.ended ? ENDED : 0) | (fact.held ? HELD : 0));
  writer.text(fact.name);
  writer.varint(fact.members.length);
  for (const [id, ending] of fact.members) {
    writer.number(id);
    writer.u8(ending === undefined ? OPEN : ENDINGS.code(ending));
  }
}

export function readGroup(reader: ByteReader, at: number): Plain<"group"> {
  const flags = reader.flags(ENDED | HELD);
  const name = reader.name();
  const members: Plain<"group">["members"][number][] = [];
  const count = reader.varint();
  for (let i = 0; i < count; i++) {
    const id = reader.number();
    const code = reader.u8();
    members.push([id, code === OPEN ? undefined : ENDINGS.word(code, reader)]);
  }
  const ended = (flags & ENDED) !== 0;
  return { at, fact: "group", name, members, ended, held: (flags & HELD) !== 0 };
}
