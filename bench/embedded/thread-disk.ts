// A disk for the log whose writes all go through Node's threads: what small writes cost when they
// are not handed to the operating system at once.

import { constants, fstatSync, statSync } from "node:fs";
import { type FileHandle, link, mkdir, open, readdir, rename, unlink } from "node:fs/promises";
import type { Disk, DiskFile, OpenMode } from "@sluice/log/disk";

const FLAGS: Record<OpenMode, number> = {
  read: constants.O_RDONLY,
  write: constants.O_RDWR,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC,
};

export const threadDisk: Disk = {
  makeDir: async (path) => void (await mkdir(path, { recursive: true })),
  list: (path) => readdir(path),
  open: async (path, how) => fileOf(await open(path, FLAGS[how])),
  link,
  rename,
  unlink,
  async syncDir(path) {
    await using handle = await open(path, "r");
    await handle.sync();
  },
};

function fileOf(handle: FileHandle): DiskFile {
  return {
    read: async (into, at) => (await handle.read(into, 0, into.length, at)).bytesRead,
    write: async (bytes, at) => (await handle.write(bytes, 0, bytes.length, at)).bytesWritten,
    sync: () => handle.datasync(),
    truncate: (sizeBytes) => handle.truncate(sizeBytes),
    sizeBytes: async () => (await handle.stat()).size,
    isAt: (path) => statSync(path).ino === fstatSync(handle.fd).ino,
    close: () => handle.close(),
  };
}
