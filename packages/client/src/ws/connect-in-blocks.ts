import { connect, type NetConnectOpts, type Socket } from "node:net";

/** Many reads go into one block, and a read has at least this much room in it. */
const BLOCK_BYTES = 256 * 1024;
const READ_BYTES_MIN = 64 * 1024;

type Options = NetConnectOpts & { readonly socketPath?: string };

/**
 * A connection whose bytes lie one behind the other in large blocks. Node takes 64 KiB of memory
 * for every read, and V8 counts all of it until the next collection: a worker of small jobs had a
 * major collection for every 20,000 of them, which took a third of its processor time. A block is
 * never written again, so payloads that are views of it stay as they are; it is free when the last
 * of them is.
 */
export function connectInBlocks(options: Options): Socket {
  let block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  let at = 0;
  const socket = connect({
    ...options,
    path: options.socketPath,
    onread: {
      buffer: () => {
        if (BLOCK_BYTES - at < READ_BYTES_MIN) {
          block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
          at = 0;
        }
        return block.subarray(at);
      },
      callback: (count: number) => {
        const bytes = block.subarray(at, at + count);
        at += count;
        return socket.emit("data", bytes);
      },
    },
  } as NetConnectOpts);
  return socket;
}
