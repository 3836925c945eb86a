// The dashboard's page in an executable: its files are assets of the program.

import { getAsset, getAssetKeys } from "node:sea";
import { type PageFile, pageFile } from "@sluice/dashboard";

const FOLDER = "page/";

export async function loadPage(): Promise<ReadonlyMap<string, PageFile>> {
  const files = new Map<string, PageFile>();
  for (const key of getAssetKeys().filter((name) => name.startsWith(FOLDER))) {
    const path = key.slice(FOLDER.length);
    const file = pageFile(path, Buffer.from(getAsset(key)));
    if (file !== undefined) files.set(path, file);
  }
  return files;
}
