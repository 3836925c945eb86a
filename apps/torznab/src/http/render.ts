/** Our own Torznab documents. */

import type { Merged } from "../service/merge.ts";
import type { Caps, Category, Mode } from "../xml/read-caps.ts";

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';
const SPACES = {
  torznab: 'xmlns:torznab="http://torznab.com/schemas/2015/feed"',
  newznab: 'xmlns:newznab="http://www.newznab.com/DTD/2010/feeds/attributes/"',
};

/** What is no character of XML is left out, whatever an indexer sent. */
function escapeXml(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
      .toWellFormed()
      .replace(/[&<>"']/g, (char) => ESCAPES[char]!)
  );
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

export function renderError(code: number, description: string): string {
  return `${DECLARATION}<error code="${code}" description="${escapeXml(description)}"/>\n`;
}

export interface FeedPage {
  /** The dialect, and what downloads are: torrents or NZB files. */
  readonly kind: "torznab" | "newznab";
  readonly title: string;
  /** Also says which indexers did not answer: people read it, clients do not. */
  readonly description: string;
  readonly releases: readonly Merged[];
  readonly offset: number;
  readonly total: number;
  /** Where we are reached: downloads go through us. */
  readonly origin: string;
  readonly now: number;
}

export function renderFeed(page: FeedPage): string {
  const { kind, title, description, releases, offset, total, origin } = page;
  const items = releases.map((release) => renderItem(release, page)).join("");
  return `${DECLARATION}<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" ${SPACES[kind]}>
<channel>
<atom:link href="${escapeXml(origin)}/api" rel="self" type="application/rss+xml"/>
<title>${escapeXml(title)}</title>
<description>${escapeXml(description)}</description>
<link>${escapeXml(origin)}/</link>
<${kind}:response offset="${offset}" total="${total}"/>
${items}</channel>
</rss>
`;
}

const TORRENT = "application/x-bittorrent";
const NZB = "application/x-nzb";
const MAGNET = "application/x-bittorrent;x-scheme-handler/magnet";

function renderItem(release: Merged, { kind, origin, now }: FeedPage): string {
  const { download, magnet, indexer } = release;
  const url =
    download === undefined ? magnet : `${origin}/download/${indexer.id}?token=${download}`;
  const size = release.sizeBytes ?? 0;
  const file = kind === "newznab" ? NZB : TORRENT;
  const lines = [
    element("title", release.title),
    `<guid isPermaLink="false">${escapeXml(release.guid)}</guid>`,
    ...(url === undefined ? [] : [element("link", url)]),
    ...(release.comments === undefined ? [] : [element("comments", release.comments)]),
    // Readers refuse an item without a date, so an unknown one is now, as others do it.
    // Some read no time zone but a number.
    element("pubDate", new Date(release.publishedAt ?? now).toUTCString().replace("GMT", "+0000")),
    // The names under which clients of Jackett and Prowlarr look for the indexer.
    ...["jackettindexer", "prowlarrindexer"].map(
      (name) => `<${name} id="${escapeXml(indexer.id)}">${escapeXml(indexer.name)}</${name}>`,
    ),
    element("size", size),
    ...release.categories.map((id) => element("category", id)),
    ...(url === undefined ? [] : [enclosure(url, size, url === magnet ? MAGNET : file)]),
    ...attributesOf(release).flatMap(([name, value]) => attribute(kind, name, value)),
  ];
  return `<item>\n${lines.join("\n")}\n</item>\n`;
}

function attributesOf(release: Merged): [string, string | number | undefined][] {
  return [
    ...release.categories.map((id): [string, number] => ["category", id]),
    ["size", release.sizeBytes],
    ["files", release.files],
    ["grabs", release.grabs],
    ["seeders", release.seeders],
    ["leechers", release.leechers],
    ["peers", release.peers],
    ["infohash", release.infohash],
    ["magneturl", release.magnet],
    ["downloadvolumefactor", release.downloadFactor],
    ["uploadvolumefactor", release.uploadFactor],
    ...release.attributes,
    ...release.from.map(({ id }): [string, string] => ["indexer", id]),
  ];
}

function element(name: string, value: string | number): string {
  return `<${name}>${escapeXml(String(value))}</${name}>`;
}

function enclosure(url: string, length: number, type: string): string {
  return `<enclosure url="${escapeXml(url)}" length="${length}" type="${type}"/>`;
}

function attribute(kind: string, name: string, value: string | number | undefined): string[] {
  if (value === undefined) return [];
  return [`<${kind}:attr name="${escapeXml(name)}" value="${escapeXml(String(value))}"/>`];
}

const NODES: Readonly<Record<Mode, readonly string[]>> = {
  search: ["search"],
  tvsearch: ["tv-search"],
  movie: ["movie-search"],
  music: ["music-search", "audio-search"],
  book: ["book-search"],
};

/** Jackett's list of indexers. */
export function renderIndexers(indexers: readonly { id: string; caps: Caps }[]): string {
  const items = indexers.map(
    ({ id, caps }) => `<indexer id="${escapeXml(id)}" configured="true">
${element("title", caps.title)}
${capsElement(caps)}</indexer>
`,
  );
  return `${DECLARATION}<indexers>\n${items.join("")}</indexers>\n`;
}

export function renderCaps(caps: Caps): string {
  return DECLARATION + capsElement(caps);
}

function capsElement(caps: Caps): string {
  const nodes = Object.entries(NODES).flatMap(([mode, names]) => {
    const params = caps.modes[mode as Mode];
    const available = params === undefined ? "no" : "yes";
    const listed = (params ?? ["q"]).join(",");
    return names.map((name) => `<${name} available="${available}" supportedParams="${listed}"/>`);
  });
  return `<caps>
<server version="1.0" title="${escapeXml(caps.title)}"/>
<limits default="${caps.limits.default}" max="${caps.limits.max}"/>
<searching>
${nodes.join("\n")}
</searching>
<categories>
${caps.categories.map(renderCategory).join("\n")}
</categories>
</caps>
`;
}

function renderCategory({ id, name, subs }: Category): string {
  const inner = subs.map((sub) => `<subcat id="${sub.id}" name="${escapeXml(sub.name)}"/>`);
  return `<category id="${id}" name="${escapeXml(name)}">${inner.join("")}</category>`;
}
