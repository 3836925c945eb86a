/** Connections of each client: of an IPv4 address, or of a /64 of IPv6, which one customer has. */
import { networkOf } from "../wire/announce.ts";

export class SocketCounts {
  readonly #counts = new Map<string, number>();

  of(address: string): number {
    return this.#counts.get(networkOf(address)) ?? 0;
  }

  opened(address: string): void {
    this.#counts.set(networkOf(address), this.of(address) + 1);
  }

  closed(address: string): void {
    const left = this.of(address) - 1;
    if (left === 0) this.#counts.delete(networkOf(address));
    else this.#counts.set(networkOf(address), left);
  }
}
