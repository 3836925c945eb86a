import type { Output } from "./command.ts";

const WIDTH = 24;

/** Runs something long with a bar on a terminal, and leaves the line as it was. */
export async function withBar<T>(
  { progress }: Output,
  verb: string,
  act: (onProgress: (doneBytes: number, totalBytes: number) => void) => Promise<T>,
): Promise<T> {
  let shown = -1;
  const show = (doneBytes: number, totalBytes: number): void => {
    const percent = totalBytes === 0 ? 100 : Math.floor((100 * doneBytes) / totalBytes);
    if (progress.isTTY !== true || percent === shown) return;
    shown = percent;
    const filled = Math.floor((percent * WIDTH) / 100);
    progress.write(`\r${verb} ${"█".repeat(filled)}${"░".repeat(WIDTH - filled)} ${percent} %`);
  };
  try {
    return await act(show);
  } finally {
    if (shown !== -1) progress.write("\r\x1b[2K");
  }
}
