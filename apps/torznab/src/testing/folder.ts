import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

// A folder of a test: who works in it is closed first, the latest first, then it is removed.
export interface Folder {
  readonly dir: string;
  readonly closing: (() => Promise<void>)[];
}

export async function openFolder(t: TestContext): Promise<Folder> {
  const dir = await mkdtemp(join(tmpdir(), "torznab-"));
  const closing: Folder["closing"] = [];
  t.after(async () => {
    for (const close of closing) await close();
    await rm(dir, { recursive: true, force: true });
  });
  return { dir, closing };
}
