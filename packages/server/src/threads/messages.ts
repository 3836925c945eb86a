/** What is said besides packets: the life of a thread, as objects. */
import type { SecureOptions } from "../shell/listener.ts";

/** What a thread is started with. */
export interface ThreadData {
  readonly tls: SecureOptions | undefined;
  readonly connectionsMax: number;
}

export interface ListenAt {
  readonly host: string;
  readonly port: number;
  /** Other threads listen there too. */
  readonly isShared: boolean;
}

export type ToThread =
  | { readonly kind: "listen"; readonly at: ListenAt }
  /** No more connections are taken; those that are there stay. */
  | { readonly kind: "stop" }
  /** The thread ends, with all that it holds. */
  | { readonly kind: "end" };

export type FromThread =
  | { readonly kind: "listening"; readonly port: number; readonly address: string }
  | { readonly kind: "refused"; readonly code: string; readonly message: string };
