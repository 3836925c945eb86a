/** Takes secrets out of a text before it is kept, logged or shown. */

const MARK = "REDACTED";

/** Parameters that carry secrets, from any source. */
const NAMED =
  /\b((?:\w+_)?(?:api_?key|pass_?key|auth_?key|rss_?key)|\w+_pass|token|secret)=([^&\s"'<>]+)/gi;

/**
 * Some indexers accept any key, and people give them `1` or `x`. A key that short is redacted only
 * where it is a separate unit: a word in a message, or a part of an address in what an indexer
 * found.
 */
const KEY_CHARS_MIN = 8;

/** For messages. */
export function redact(text: string, secrets: readonly string[] = []): string {
  return clean(text, secrets, (secret) => `(?<!\\w)${secret}(?!\\w)`);
}

/** For titles and links, which must stay readable. */
export function redactFound(text: string, secrets: readonly string[]): string {
  return clean(text, secrets, (secret) => `(?<=[=/])${secret}(?=$|[&/?#\\s"'])`);
}

function clean(
  text: string,
  secrets: readonly string[],
  whole: (secret: string) => string,
): string {
  let rest = text.replace(NAMED, `$1=${MARK}`);
  for (const secret of secrets) {
    if (secret === "") continue;
    for (const form of new Set([secret, encodeURIComponent(secret)])) {
      const isShort = secret.length < KEY_CHARS_MIN;
      rest = rest.replaceAll(isShort ? new RegExp(whole(escaped(form)), "g") : form, MARK);
    }
  }
  return rest;
}

/** RegExp.escape, which Node 22 does not have. */
function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|\-/]/g, "\\$&");
}
