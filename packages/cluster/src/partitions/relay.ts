import type { Socket } from "@sluice/protocol/wire";

/**
 * Passes a stream on as it is: neither its frames nor the key in its first one are looked at. What
 * comes before the far end is connected waits, and the end of one is the end of the other. When the
 * far end does not answer, `refuse` takes the near one over.
 */
export function relay(near: Socket, dialled: Promise<Socket>, refuse: () => void): void {
  const early: Uint8Array[] = [];
  let isGone = false;
  near.onmessage = (message) => early.push(message);
  near.onclose = () => {
    isGone = true;
  };
  dialled.then(
    (far) => {
      if (isGone) return far.close(1000, "the client has left");
      near.onmessage = (message) => far.send(message as Uint8Array<ArrayBuffer>);
      far.onmessage = (message) => near.send(message as Uint8Array<ArrayBuffer>);
      near.onclose = (reason) => far.close(1000, reason.slice(0, REASON_CHARS_MAX));
      far.onclose = (reason) => near.close(1000, reason.slice(0, REASON_CHARS_MAX));
      for (const message of early) near.onmessage(message);
    },
    () => {
      if (isGone) return;
      refuse();
      for (const message of early) near.onmessage(message);
    },
  );
}

/** A WebSocket carries 123 bytes of reason. */
const REASON_CHARS_MAX = 100;
