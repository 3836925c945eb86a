/**
 * Errors of one cause rarely read the same: they name a job, a port, a time. Folded, such words are
 * a `#`, so that errors which differ in nothing else are one failure.
 */

/** Only the beginning of an error identifies it: the rest is often a response. */
const CHARS_MAX = 400;

/** A code of a response says more than any other number, so it stays. */
const WORDS = /\b(?:http|status|code)[ :=]+[1-5]\d\d\b|[\w-]*\d[\w-]*/gi;
const STATUS = /^(?:http|status|code)[ :=]/i;

/** Addresses, versions and times are several numbers in a row. */
const RUNS = /#(?:[.:,/]#)+/g;

/** The first line of an error, with its numbers and ids as `#`. */
export function foldError(error: string): string {
  const end = error.indexOf("\n");
  const line = error.slice(0, Math.min(end === -1 ? CHARS_MAX : end, CHARS_MAX));
  return line.replace(WORDS, (word) => (STATUS.test(word) ? word : "#")).replace(RUNS, "#");
}

const PRIME = 0x01000193;

/** A number of 52 bits for all errors that fold alike; never 0, and the same after a restart. */
export function failureOf(error: string): number {
  const folded = foldError(error);
  let low = 0x811c9dc5;
  let high = 0x2b3d5a77;
  for (let i = 0; i < folded.length; i++) {
    const code = folded.charCodeAt(i);
    low = Math.imul(low ^ code, PRIME);
    high = Math.imul(high ^ (code + i), PRIME);
  }
  return (high & 0xfffff) * 2 ** 32 + ((low >>> 0) | 1);
}
