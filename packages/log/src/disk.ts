/**
 * The calls that the file log makes, and no more: the simulator puts its own disk here and runs the
 * code that ships. Errors keep the code of the operating system (`EIO`, `ENOSPC`).
 *
 * What a disk promises: bytes written are durable after `sync`, names after `syncDir` of their
 * directory. Without, a power loss may keep any 512-byte part of a write and any change of a name.
 */
export interface Disk {
  /** Makes the directory and those above it, for the owner alone, and makes them durable. */
  makeDir(path: string): Promise<void>;
  /** The names in a directory. */
  list(path: string): Promise<string[]>;
  open(path: string, how: OpenMode): Promise<DiskFile>;
  /** A second name for a file; fails with EEXIST when the name is taken. */
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  syncDir(path: string): Promise<void>;
}

/** `create` makes the file or empties it, for the owner alone; the others fail with ENOENT. */
export type OpenMode = "read" | "write" | "create";

export interface DiskFile {
  /** Answers how many bytes came; fewer than asked for, and 0 at the end of the file. */
  read(into: Uint8Array, at: number): Promise<number>;
  /** Answers how many bytes went; they may be fewer than given. */
  write(bytes: Uint8Array, at: number): Promise<number>;
  /** fdatasync: the bytes and what is needed to find them. */
  sync(): Promise<void>;
  truncate(sizeBytes: number): Promise<void>;
  sizeBytes(): Promise<number>;
  /** Whether this path leads to the file now. At once, in some microseconds. */
  isAt(path: string): boolean;
  close(): Promise<void>;
}

export async function readAll(file: DiskFile, into: Uint8Array, at: number): Promise<number> {
  let done = 0;
  while (done < into.length) {
    const count = await file.read(into.subarray(done), at + done);
    if (count === 0) break;
    done += count;
  }
  return done;
}

export async function writeAll(file: DiskFile, bytes: Uint8Array, at: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const count = await file.write(done === 0 ? bytes : bytes.subarray(done), at + done);
    if (count <= 0) throw new Error(`the disk took ${count} of ${bytes.length - done} bytes`);
    done += count;
  }
}

/** The file's whole content, or the first `bytesMax` of it. */
export async function readWhole(disk: Disk, path: string, bytesMax: number): Promise<Buffer> {
  const file = await disk.open(path, "read");
  try {
    const bytes = Buffer.alloc(Math.min(await file.sizeBytes(), bytesMax));
    return bytes.subarray(0, await readAll(file, bytes, 0));
  } finally {
    await file.close();
  }
}

export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
