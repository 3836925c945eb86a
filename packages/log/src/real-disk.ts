import { constants, fstatSync, statSync, writeSync } from "node:fs";
import {
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  rename,
  stat,
  unlink,
} from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { codeOf, type Disk, type DiskFile, type OpenMode } from "./disk.ts";

const FLAGS: Record<OpenMode, number> = {
  read: constants.O_RDONLY,
  write: constants.O_RDWR,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC,
};

/** The log holds what users sent: no other user of the machine may read it. */
const FILE_MODE = 0o600;
const DIR_MODE = 0o700;

/**
 * Up to this a write goes to the operating system at once and not through Node's threads: a copy
 * into its cache takes less time than waking a thread and hearing of it: with one append in flight
 * 12 µs of processor time and not 22. Larger ones are not waited for.
 */
const AT_ONCE_BYTES_MAX = 16 * 1024;

export const realDisk: Disk = {
  makeDir: (path) => makeDir(resolve(path)),
  list: (path) => readdir(path),
  async open(path, how) {
    return new RealFile(await open(path, FLAGS[how], FILE_MODE));
  },
  link,
  rename,
  unlink,
  syncDir,
};

/**
 * Makes a directory and those above it that are missing. One at a time: Node's own way of making
 * several never ends where the system refuses with ENOENT, as below /proc.
 */
async function makeDir(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: DIR_MODE });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    if (code !== "ENOENT" || (await exists(dirname(path)))) throw error;
    await makeDir(dirname(path));
    return makeDir(path);
  }
  // A new directory is durable when the one above it is synced.
  await syncDir(dirname(path));
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function syncDir(path: string): Promise<void> {
  // Windows has no way to sync a directory; its journal keeps names in order.
  if (process.platform === "win32") return;
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

class RealFile implements DiskFile {
  readonly #handle: FileHandle;
  #own: { readonly ino: number; readonly dev: number } | undefined = undefined;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async read(into: Uint8Array, at: number): Promise<number> {
    return (await this.#handle.read(into, 0, into.length, at)).bytesRead;
  }

  async write(bytes: Uint8Array, at: number): Promise<number> {
    if (bytes.length <= AT_ONCE_BYTES_MAX) {
      return writeSync(this.#handle.fd, bytes, 0, bytes.length, at);
    }
    return (await this.#handle.write(bytes, 0, bytes.length, at)).bytesWritten;
  }

  sync(): Promise<void> {
    return this.#handle.datasync();
  }

  truncate(sizeBytes: number): Promise<void> {
    return this.#handle.truncate(sizeBytes);
  }

  async sizeBytes(): Promise<number> {
    return (await this.#handle.stat()).size;
  }

  isAt(path: string): boolean {
    // Which file it is does not change while it is open: one call to the system and not two.
    this.#own ??= fstatSync(this.#handle.fd);
    try {
      const found = statSync(path, { throwIfNoEntry: false });
      return found !== undefined && found.ino === this.#own.ino && found.dev === this.#own.dev;
    } catch (error) {
      // A path that may not be read any more says nothing about what is there.
      return codeOf(error) !== "ENOTDIR" && fstatSync(this.#handle.fd).nlink > 0;
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
