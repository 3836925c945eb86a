/**
 * Characters that a terminal obeys instead of showing: controls (among them U+009B, which begins
 * an escape sequence as ESC [ does), and marks that turn the direction of what follows. Line ends
 * and tabs are text.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const OBEYED = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** With such characters written as `\u009b`. In JSON that is the same value. */
export function visible(text: string): string {
  return text.replace(OBEYED, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** On one line, with such characters replaced. */
export function oneLine(text: string): string {
  return text.replace(/[\n\t]/g, " ").replace(OBEYED, "\ufffd");
}
