/** The program behind a peer id: `-qB4520-` and the like, and the few older forms. */

const NAMES: Readonly<Record<string, string>> = {
  __proto__: null as never,
  AZ: "Azureus",
  BC: "BitComet",
  BI: "BiglyBT",
  BT: "BitTorrent",
  DE: "Deluge",
  FD: "Free Download Manager",
  FL: "Flud",
  KT: "KTorrent",
  LT: "libtorrent (Rasterbar)",
  lt: "libTorrent (Rakshasa) / rTorrent",
  qB: "qBittorrent",
  TL: "Tribler",
  TR: "Transmission",
  TX: "Tixati",
  UM: "µTorrent for Mac",
  UT: "µTorrent",
  UW: "µTorrent Web",
  WD: "WebTorrent Desktop",
  WW: "WebTorrent",
  XL: "Xunlei",
};

export interface Client {
  readonly name: string;
  readonly version: string;
}

const DASHED = /^-([A-Za-z]{2})([0-9A-Za-z]{4})-/;
/** aria2 writes its version out. */
const ARIA2 = /^A2-(\d+)-(\d+)-(\d+)-/;

export function clientOf(peerId: string): Client {
  const dashed = DASHED.exec(peerId);
  if (dashed !== null) {
    const [, code = "", version = ""] = dashed;
    return { name: NAMES[code] ?? code, version: [...version].join(".") };
  }
  const aria = ARIA2.exec(peerId);
  if (aria !== null) return { name: "aria2", version: aria.slice(1).join(".") };
  return { name: "unknown", version: "" };
}
