/**
 * What both ends need of a connection that carries messages: a WebSocket, or what a simulation puts
 * in its place. Messages come whole, in order, and once, until the connection is lost.
 */
export interface Socket {
  /** Hands a message over. The sender does not write to it again. */
  send(message: Uint8Array<ArrayBuffer>): void;
  /** Says that it is over, with a code of RFC 6455 and a reason for people. */
  close(code: number, reason: string): void;
  /** Bytes that were sent and have not left this process. */
  readonly bufferedBytes: number;
  /** Set by the user of the socket; never called again after `onclose`. */
  onmessage: (message: Uint8Array) => void;
  /** Some of what was buffered has left. */
  ondrain: () => void;
  onclose: (reason: string) => void;
}
