/** What is wrong with the messages of a log, wherever they are stored. */
import { SluiceError } from "@sluice/protocol";
import { describeMessageFlaw, type MessageFlaw } from "./message.ts";

/** Where the messages are: a stream of NATS, or a table of PostgreSQL. */
export interface MessageStore {
  readonly kind: "stream" | "log";
  readonly name: string;
}

export function storeDamaged(store: MessageStore, sequence: number, what: string): SluiceError {
  const { kind, name } = store;
  const message = `${wordsOf(store)} is damaged at ${placeOf(store)} ${sequence}: ${what}`;
  return new SluiceError("LOG_DAMAGED", message, { [kind]: name, sequence, what });
}

/** What the message at a sequence is not. */
export function flawedMessage(
  store: MessageStore,
  sequence: number,
  flaw: MessageFlaw,
): SluiceError {
  if (flaw !== "version") return storeDamaged(store, sequence, describeMessageFlaw(flaw));
  const message =
    `${wordsOf(store)} was written by a newer version of Sluice, from ${placeOf(store)}` +
    ` ${sequence} on: update to open it`;
  return new SluiceError("LOG_VERSION", message, { [store.kind]: store.name, sequence });
}

function wordsOf({ kind, name }: MessageStore): string {
  return kind === "stream" ? `the stream ${name}` : `the PostgreSQL log ${name}`;
}

function placeOf({ kind }: MessageStore): string {
  return kind === "stream" ? "sequence" : "position";
}
