// Programs of others meet by the retracker alone: one seeds, another downloads, over each protocol.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { freePort } from "@sluice/server/testing/loopback";
import { escapeBytes } from "../http/query.ts";
import { Retracker } from "../retracker.ts";
import { fetchBytes } from "../testing/scene.ts";
import { type Bencoded, decode } from "../wire/bencode.ts";
import { missingPrograms, Program } from "./programs.ts";
import { makeTorrent, type Torrent, writeTorrent } from "./torrent.ts";
import { until } from "./until.ts";

const missing = missingPrograms(["qbittorrent-nox", "rtorrent", "libtorrent"]);
const BYTES = 1_500_000;

interface Place {
  /** Where the content is, or is to come. */
  readonly dir: string;
  readonly torrent: string;
  readonly host: string;
  readonly port: number;
}

type Client = (place: Place) => Program;

const libtorrent: Client = ({ dir, torrent, host, port }) => {
  const script = join(import.meta.dirname, "libtorrent-client.py");
  const at = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  return new Program("/usr/bin/python3", [script, torrent, dir, at]);
};

const rtorrent: Client = ({ dir, torrent, host, port }) => {
  const options = [
    "system.daemon.set=true",
    `network.port_range.set=${port}-${port}`,
    `network.bind_address.set=${host}`,
    `network.local_address.set=${host}`,
    "dht.mode.set=off",
    "protocol.pex.set=no",
    "trackers.use_udp.set=yes",
    `directory.default.set=${dir}`,
    `session.path.set=${join(dir, "session")}`,
  ];
  mkdirSync(join(dir, "session"));
  return new Program("rtorrent", ["-n", ...options.flatMap((one) => ["-o", one]), torrent]);
};

const qBittorrent: Client = ({ dir, torrent, host, port }) => {
  const config = join(dir, "profile", "qBittorrent", "config");
  mkdirSync(config, { recursive: true });
  const lines = [
    "[LegalNotice]",
    "Accepted=true",
    "[BitTorrent]",
    `Session\\DefaultSavePath=${dir}`,
    `Session\\Port=${port}`,
    `Session\\InterfaceAddress=${host}`,
    "Session\\DHTEnabled=false",
    "Session\\PeXEnabled=false",
    "Session\\LSDEnabled=false",
    "Session\\SSRFMitigation=false",
    "[Network]",
    "PortForwardingEnabled=false",
    "[Preferences]",
    "WebUI\\Enabled=false",
  ];
  writeFileSync(join(config, "qBittorrent.conf"), `${lines.join("\n")}\n`);
  const profile = `--profile=${join(dir, "profile")}`;
  return new Program("qbittorrent-nox", [profile, `--save-path=${dir}`, torrent]);
};

const TRANSFERS: readonly (readonly [string, Client, Client, "http" | "udp", string])[] = [
  ["libtorrent to qBittorrent over HTTP", libtorrent, qBittorrent, "http", "127.0.0.1"],
  ["rtorrent to libtorrent over UDP", rtorrent, libtorrent, "udp", "127.0.0.1"],
  ["libtorrent to libtorrent over HTTP and IPv6", libtorrent, libtorrent, "http", "::1"],
  ["libtorrent to libtorrent over UDP and IPv6", libtorrent, libtorrent, "udp", "::1"],
];

async function counts(retracker: Retracker, { hash }: Torrent, host: string): Promise<unknown[]> {
  const at = host.includes(":") ? `[${host}]` : host;
  const url = `http://${at}:${retracker.ports.http}/scrape?info_hash=${escapeBytes(hash)}`;
  const answer = decode((await fetchBytes(url)).body) as Map<string, Map<string, Bencoded>>;
  const file = answer.get("files")!.get(hash) as Map<string, Bencoded>;
  return [file.get("complete"), file.get("incomplete")];
}

function isThere(dir: string, { name, content }: Torrent): boolean {
  const file = join(dir, name);
  return existsSync(file) && readFileSync(file).equals(content);
}

describe("clients", { skip: missing ?? false }, () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-retracker-clients-"));
  after(() => rmSync(dir, { recursive: true, force: true }));

  for (const [index, [name, seed, download, protocol, host]] of TRANSFERS.entries()) {
    test(name, async () => {
      const at = host.includes(":") ? `[${host}]` : host;
      await using retracker = await Retracker.open({
        settings: { listen: `${at}:0`, udp_listen: `${at}:0`, durability: "memory" },
      });
      const torrent = makeTorrent(`file-${index}.bin`, BYTES);
      const [from, to] = [join(dir, `${index}-seed`), join(dir, `${index}-get`)];
      for (const one of [from, to]) mkdirSync(one);
      writeFileSync(join(from, torrent.name), torrent.content);
      const file = join(dir, `${index}.torrent`);
      const port = retracker.ports[protocol];
      writeTorrent(torrent, file, `${protocol}://${at}:${port}/announce`);
      await using seeder = seed({ dir: from, torrent: file, host, port: await freePort() });
      await until(`the seeder: ${seeder.output}`, async () => {
        return (await counts(retracker, torrent, host))[0] === 1;
      });
      await using client = download({ dir: to, torrent: file, host, port: await freePort() });
      await until(`the file: ${client.output}`, () => isThere(to, torrent));
      await until("both seeders", async () => (await counts(retracker, torrent, host))[0] === 2);
      assert.deepEqual(await counts(retracker, torrent, host), [2, 0]);
    });
  }
});
