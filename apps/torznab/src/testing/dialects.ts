// What three kinds of indexer programs answer, written from the protocol's facts.

export type Dialect = "jackett" | "prowlarr" | "newznab";

export interface SampleItem {
  title: string;
  guid: string;
  sizeBytes: number;
  seeders: number;
  peers: number;
  infohash?: string;
  category: number;
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body: string | Uint8Array;
}

const TORZNAB = 'xmlns:torznab="http://torznab.com/schemas/2015/feed"';
const NEWZNAB = 'xmlns:newznab="http://www.newznab.com/DTD/2010/feeds/attributes/"';
const XML = { "content-type": "application/rss+xml; charset=utf-8" };
const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

export function errorAnswer(code: number, description: string, status = 200): Answer {
  const body = `${DECLARATION}<error code="${code}" description="${description}" />`;
  return { status, headers: XML, body };
}

export function capsAnswer(dialect: Dialect): Answer {
  const music = {
    jackett: ["music-search", "audio-search"],
    prowlarr: ["audio-search"],
    newznab: [],
  };
  const params = (list: string): string =>
    dialect === "newznab" ? "" : ` supportedParams="${list}"`;
  const searching = [
    `<search available="yes"${params("q")}/>`,
    `<tv-search available="yes"${params("q,season,ep,tvdbid")}/>`,
    `<movie-search available="yes"${params("q,imdbid,tmdbid")}/>`,
    ...music[dialect].map((node) => `<${node} available="yes"${params("q,artist,album")}/>`),
    `<book-search available="${dialect === "newznab" ? "no" : "yes"}"${params("q,title,author")}/>`,
  ];
  const body = `${DECLARATION}<caps><server title="${dialect}"/><limits max="100" default="50"/>
<searching>${searching.join("")}</searching>
<categories><category id="2000" name="Movies"><subcat id="2040" name="Movies/HD"/></category>
<category id="5000" name="TV"/></categories></caps>`;
  return { status: 200, headers: XML, body };
}

export function feedAnswer(dialect: Dialect, items: readonly SampleItem[], base: string): Answer {
  const item = { jackett: jackettItem, prowlarr: prowlarrItem, newznab: newznabItem }[dialect];
  const space = dialect === "newznab" ? NEWZNAB : TORZNAB;
  // One of them has a byte order mark in front, as some have.
  const mark = dialect === "newznab" ? "\ufeff" : "";
  const title = { jackett: "Some Tracker", prowlarr: "Prowlarr", newznab: "nab" }[dialect];
  const body = `${mark}${DECLARATION}<rss version="2.0" ${space}><channel><title>${title}</title>
${items.map((one) => item(one, base)).join("\n")}</channel></rss>`;
  return { status: 200, headers: XML, body };
}

// Its download links are proxied, and hold the key.
function jackettItem(one: SampleItem, base: string): string {
  const link = `${base}/dl/some/?jackett_apikey=KEY&amp;path=${one.guid}&amp;file=x`;
  return `<item><title>${one.title}</title><guid>https://tracker.example/${one.guid}</guid>
<jackettindexer id="some">Some Tracker</jackettindexer><type>public</type>
<comments>https://tracker.example/${one.guid}</comments>
<pubDate>Tue, 05 Mar 2024 10:11:12 +0000</pubDate><size>${one.sizeBytes}</size>
<description /><link>${link}</link><category>${one.category}</category>
<enclosure url="${link}" length="0" type="application/x-bittorrent" />
<torznab:attr name="category" value="${one.category}" />
<torznab:attr name="category" value="100${one.category}" />
<torznab:attr name="seeders" value="${one.seeders}" />
<torznab:attr name="peers" value="${one.peers}" />
${one.infohash ? `<torznab:attr name="infohash" value="${one.infohash}" />` : ""}
<torznab:attr name="downloadvolumefactor" value="0.5" />
<torznab:attr name="uploadvolumefactor" value="-3" /></item>`;
}

function prowlarrItem(one: SampleItem, base: string): string {
  const link = `${base}/1/download?apikey=KEY&amp;link=${one.guid}`;
  return `<item><title><![CDATA[${one.title}]]></title><guid>${one.guid}</guid>
<prowlarrindexer id="1" type="private">Some</prowlarrindexer>
<pubDate>Tue, 05 Mar 2024 10:11:12 +0000</pubDate><size>${one.sizeBytes}</size>
<link>${link}</link><category>${one.category}</category>
<enclosure url="${link}" length="${one.sizeBytes}" type="application/x-bittorrent" />
<torznab:attr name="seeders" value="${one.seeders}" />
<torznab:attr name="leechers" value="${one.peers - one.seeders}" /></item>`;
}

function newznabItem(one: SampleItem, _base: string): string {
  return `<item><title>${one.title}</title><guid isPermaLink="true">/details/${one.guid}</guid>
<link>/getnzb/${one.guid}?i=1&amp;r=KEY</link><pubDate>unknown</pubDate>
<newznab:attr name="size" value="${one.sizeBytes}" />
<newznab:attr name="category" value="${one.category}" />
<newznab:attr name="grabs" value="7" /></item>`;
}
