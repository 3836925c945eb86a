import type { Socket } from "@sluice/protocol/wire";
import type { ServerSocket } from "@sluice/server/stream";

/** The two ends of a connection inside one process; what one sends arrives after its turn. */
export function socketPair(): [near: Socket, far: ServerSocket] {
  const near = new End();
  const far = new End();
  near.peer = far;
  far.peer = near;
  return [near, far];
}

class End implements ServerSocket {
  readonly bufferedBytes = 0;
  onmessage: (message: Uint8Array) => void = () => {};
  onclose: (reason: string) => void = () => {};
  ondrain: () => void = () => {};
  peer!: End;
  #isClosed = false;

  send(message: Uint8Array): void {
    queueMicrotask(() => {
      if (!this.peer.#isClosed) this.peer.onmessage(message);
    });
  }

  close(_code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose(reason);
    queueMicrotask(() => this.peer.close(1000, reason));
  }

  pause(): void {}

  resume(): void {}
}
