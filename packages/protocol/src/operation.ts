/** Calls under an operation id: one id is one call, with all that it says. */
import { digestOf } from "./digest.ts";
import { SluiceError } from "./errors.ts";

/** A call's name, how many items it has, and a digest of what it says. */
export function titleOf(call: string, items: number, ...said: readonly unknown[]): string {
  return `${call} ${items} ${digestOf(...said)}`;
}

/** Refuses with CONFLICT a call under an id that another call was made under. */
export function checkSameCall(operationId: string, title: string, known: string): void {
  if (known === title) return;
  const [call, digest] = split(title);
  const [knownCall, knownDigest] = split(known);
  const isAlike = call === knownCall;
  // Logs of earlier versions have no digests.
  if (isAlike && (digest === "" || knownDigest === "")) return;
  const [, name, items] = /^(.*) (\d+)$/.exec(knownCall) ?? [undefined, knownCall, "1"];
  const counted = `${items} ${items === "1" ? "item" : "items"}`;
  const used = `operation id ${JSON.stringify(operationId)} was already used for ${name}`;
  const message = `${used} (${counted}${isAlike ? ", with other contents" : ""})`;
  throw new SluiceError("CONFLICT", message, { field: "operationId", value: operationId });
}

/** Names hold no spaces but between their words, and a count is all digits. */
function split(title: string): [call: string, digest: string] {
  const [, call, digest] = /^(.* \d+) ([0-9a-z]+)$/.exec(title) ?? [];
  return call === undefined ? [title, ""] : [call, digest!];
}

/**
 * The id of one of the calls that a call is made of. That of a numbered call is numbered too, so
 * that it is remembered as long as the whole.
 */
export function partOfOperation(operationId: string, part: string): string {
  const [, source, number] = /^numbered:(.+):(\d+)$/.exec(operationId) ?? [];
  if (source === undefined) return `${operationId}.${part}`;
  return `numbered:${source}.${part}:${number}`;
}
