/**
 * Characters that are not seen, or that turn around what follows, so that a name or a payload could
 * look like another: shown as JSON would write them. A line break and a tab are what they are.
 */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is they that are looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export function visible(text: string): string {
  return text.replace(UNSEEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
