/** What an indexer's answer is: an error under any status, its caps, or a feed. */
import { DESCRIPTION_CHARS_MAX } from "../limits.ts";
import { decodeBytes } from "./decode-bytes.ts";
import { type Caps, readCaps } from "./read-caps.ts";
import { type Feed, readFeed } from "./read-feed.ts";
import { XmlRefused } from "./refused.ts";
import { type Element, parseTree } from "./tree.ts";

export interface Document {
  readonly bytes: Uint8Array;
  readonly contentType: string | undefined;
  /** The address that answered, without its query: relative links start there. */
  readonly base: string;
}

export type XmlAnswer =
  | { kind: "error"; code: number | undefined; description: string }
  | { kind: "caps"; caps: Caps }
  | { kind: "indexers"; indexers: ListedIndexer[] }
  | { kind: "feed"; feed: Feed };

/** An indexer in Jackett's list of them. */
export interface ListedIndexer {
  readonly id: string;
  readonly title: string;
}

export function readAnswer({ bytes, contentType, base }: Document): XmlAnswer {
  const root = parseTree(decodeBytes(bytes, contentType));
  switch (root.name) {
    case "error": {
      const code = Number(root.attributes.get("code"));
      const description = root.attributes.get("description") ?? root.text;
      return {
        kind: "error",
        code: Number.isInteger(code) ? code : undefined,
        description: description.slice(0, DESCRIPTION_CHARS_MAX),
      };
    }
    case "caps":
      return { kind: "caps", caps: readCaps(root) };
    case "indexers":
      return { kind: "indexers", indexers: root.children.flatMap(listedIndexer) };
    case "rss":
    case "channel":
    case "rdf":
      return { kind: "feed", feed: readFeed(root, base) };
    case "html":
      throw new XmlRefused(
        "html",
        "the answer is a web page, from a proxy or a login, and not XML",
      );
    default: {
      const name = root.name.slice(0, 40);
      throw new XmlRefused("unexpected", `the answer is a document of ${JSON.stringify(name)}`);
    }
  }
}

function listedIndexer({ name, attributes, children }: Element): ListedIndexer[] {
  const id = attributes.get("id") ?? "";
  const isHere = name === "indexer" && attributes.get("configured") !== "false";
  if (!isHere || !/^[\w.-]{1,100}$/.test(id)) return [];
  const title = children.find((one) => one.name === "title")?.text ?? "";
  return [{ id, title: title.slice(0, 100) }];
}
