/** What happens in a cluster: one JSON object a line, with time and level; floods are cut. */
import type { SluiceError } from "@sluice/protocol";

const LINES_MAX = 20;
const WINDOW_MS = 10_000;

export interface ClusterEvents {
  /** Of a partition, or without one of the node itself. */
  tell(partition: number | undefined, error: SluiceError): void;
}

/** Beyond so many lines in a while the rest is counted; the next line says how many. */
export function clusterEvents(write: (line: string) => void, now = Date.now): ClusterEvents {
  let begunAt = Number.NEGATIVE_INFINITY;
  let told = 0;
  let left = 0;
  return {
    tell(partition, { code, message }) {
      const time = now();
      if (time - begunAt >= WINDOW_MS) {
        begunAt = time;
        told = 0;
      }
      if (told++ >= LINES_MAX) {
        left++;
        return;
      }
      const level = code === "LOG_DAMAGED" || code === "LOG_VERSION" ? "error" : "warn";
      const about = partition === undefined ? {} : { partition };
      const more = left === 0 ? {} : { leftOut: left };
      left = 0;
      write(`${JSON.stringify({ level, time, ...about, code, msg: message, ...more })}\n`);
    },
  };
}
