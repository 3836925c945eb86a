/** Who may announce: every client, or in private mode only clients with a key in the path. */
import type { Clock } from "sluice";
import { keyOf } from "./http/paths.ts";
import { type Passkey, Passkeys } from "./passkeys.ts";
import type { Settings } from "./settings/settings.ts";
import { readUrlData } from "./udp/packets.ts";
import type { Refused } from "./wire/announce.ts";

const UNKNOWN: Refused = { failure: "unknown passkey; announce to /KEY/announce" };

export class Admission {
  readonly #settings: Settings;
  readonly #clock: Clock;
  readonly #keys = new Passkeys();
  /** Announces and scrapes without a key that is known. */
  refused = 0;

  constructor(settings: Settings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  get keys(): readonly Passkey[] {
    return [...this.#keys.all];
  }

  /** Reads the keys again; answers what was refused, with file and line. */
  async load(): Promise<string[]> {
    const { private: isPrivate, passkeys_file: file } = this.#settings;
    return isPrivate ? this.#keys.load(file) : [];
  }

  admit(key: string): Refused | undefined {
    if (!this.#settings.private) return undefined;
    const known = this.#keys.find(key);
    if (known === undefined) {
      this.refused++;
      return UNKNOWN;
    }
    known.announces++;
    known.lastUsedAt = this.#clock.now();
    return undefined;
  }

  /** Whether a key is known, without counting an announce. */
  isKnown(key: string): boolean {
    return !this.#settings.private || this.#keys.find(key) !== undefined;
  }

  /** Over UDP the path comes behind the announce (BEP 41). */
  admitPacket(packet: Buffer): Refused | undefined {
    if (!this.#settings.private) return undefined;
    const [path = ""] = readUrlData(packet).split("?");
    return this.admit(keyOf(path) ?? "");
  }
}
