/** The paths of the tracker, each with a passkey before it or without. */

const ANNOUNCE_PATH = /^(?:\/[\w.~-]{1,128})?\/(?:announce(?:\.php)?|ann)$/;
const SCRAPE_PATH = /^(?:\/[\w.~-]{1,128})?\/scrape(?:\.php)?$/;
const WITH_KEY = /^\/([\w.~-]{1,128})\/[a-z.]+$/;

export function isAnnouncePath(path: string): boolean {
  return path === "/announce" || ANNOUNCE_PATH.test(path);
}

export function isScrapePath(path: string): boolean {
  return SCRAPE_PATH.test(path);
}

/** The key in a path, empty when there is none; undefined when it is no path of the tracker. */
export function keyOf(path: string): string | undefined {
  // Nearly every request: two expressions fewer.
  if (path === "/announce") return "";
  if (!isAnnouncePath(path) && !isScrapePath(path)) return undefined;
  return WITH_KEY.exec(path)?.[1] ?? "";
}
