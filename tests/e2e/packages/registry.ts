// A registry of npm on this machine: it has the packed tarballs, and redirects requests for other
// packages to the registry that npm is configured for. So a test can run `npm install sluice` as a
// user does.

import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";

export interface Registry {
  readonly url: string;
  close(): Promise<void>;
}

interface Tarball {
  readonly file: string;
  readonly bytes: Buffer;
  readonly manifest: { readonly name: string; readonly version: string };
}

// `dist` is what `npm run pack` has filled.
export async function openRegistry(dist: string, upstream: string): Promise<Registry> {
  const tarballs = readTarballs(dist);
  const server = createServer(({ url = "/" }, response) => {
    const path = decodeURIComponent(url.slice(1));
    const asked = tarballs.find(({ file, manifest }) => path === file || path === manifest.name);
    if (asked === undefined) return sendOn(response, new URL(url.slice(1), upstream));
    if (path === asked.file) return void response.end(asked.bytes);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(describe(asked, addressOf())));
  });
  const addressOf = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  };
  return { url: addressOf(), close };
}

function readTarballs(dist: string): Tarball[] {
  return globSync("{packages,apps}/*/package.json", { cwd: dist }).map((path) => {
    const manifest = JSON.parse(readFileSync(join(dist, path), "utf8"));
    const name = manifest.name.replace("@", "").replace("/", "-");
    const file = `${name}-${manifest.version}.tgz`;
    return { file: basename(file), bytes: readFileSync(join(dist, file)), manifest };
  });
}

function describe({ file, bytes, manifest }: Tarball, url: string): object {
  const { name, version } = manifest;
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  const dist = { tarball: `${url}/${file}`, integrity };
  return {
    name,
    "dist-tags": { latest: version },
    versions: { [version]: { ...manifest, dist } },
  };
}

function sendOn(response: ServerResponse, to: URL): void {
  response.writeHead(302, { location: to.href });
  response.end();
}
