/** A release as the service keeps and shows it: no secret is in it. */
import { redactFound } from "../redact.ts";
import type { Release } from "../xml/read-feed.ts";
import type { SecretCipher } from "./secret-cipher.ts";

export interface Found extends Omit<Release, "link"> {
  readonly indexer: { readonly id: string; readonly name: string };
  /** The sealed link of its torrent file, for our own download address. */
  readonly download?: string;
}

export function foundOf(
  { link, ...release }: Release,
  indexer: { id: string; name: string },
  { cipher, secrets }: { cipher: SecretCipher; secrets: readonly string[] },
): Found {
  const clean = (text: string): string => redactFound(text, secrets);
  return {
    ...release,
    title: clean(release.title),
    guid: clean(release.guid),
    ...(release.comments === undefined ? {} : { comments: clean(release.comments) }),
    ...(release.magnet === undefined ? {} : { magnet: clean(release.magnet) }),
    attributes: release.attributes.map(([name, value]): [string, string] => [name, clean(value)]),
    indexer,
    ...(link === undefined ? {} : { download: cipher.seal(`link:${indexer.id}`, link) }),
  };
}
