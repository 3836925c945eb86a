/** Takes secrets out of a text before it is kept, logged or shown. */

const MARK = "REDACTED";

/** Parameters that carry secrets, whoever wrote them. */
const NAMED =
  /\b((?:\w+_)?(?:api_?key|pass_?key|auth_?key|rss_?key)|\w+_pass|token|secret)=([^&\s"'<>]+)/gi;

export function redact(text: string, secrets: readonly string[] = []): string {
  let clean = text.replace(NAMED, `$1=${MARK}`);
  for (const secret of secrets) {
    if (secret === "") continue;
    clean = clean.replaceAll(secret, MARK);
    const encoded = encodeURIComponent(secret);
    if (encoded !== secret) clean = clean.replaceAll(encoded, MARK);
  }
  return clean;
}
