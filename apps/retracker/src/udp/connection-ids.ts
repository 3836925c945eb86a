/**
 * Connection ids without a table. An id is one byte of the second in which it was given, and 7
 * bytes of a keyed hash over that second and the address. Only its receiver can send it back,
 * so a forged source address gets nothing from us; without the key none can be made.
 *
 * `crypto.hash` takes about 1 µs; `createHmac` takes 14. The key is both before and behind the
 * text, so that the hash of a longer text cannot be had from that of a shorter one. An id that was
 * found good is remembered for a while: a client announces many hashes with one id.
 */
import { hash, randomBytes } from "node:crypto";
import { CONNECTION_ID_SECONDS, CONNECTION_IDS_REMEMBERED } from "../limits.ts";

const ID_BYTES = 8;
const KEY_BYTES = 32;
const TIME_BYTES = 8;
const ADDRESS_BYTES = 16;

/** The id of an address that was good last, and the second up to which it is. */
interface Good {
  high: number;
  low: number;
  until: number;
}

export class ConnectionIds {
  /** Key, time, address with its length, key. */
  readonly #text = Buffer.alloc(KEY_BYTES + TIME_BYTES + 1 + ADDRESS_BYTES + KEY_BYTES);
  readonly #good = new Map<string, Good>();

  constructor(key: Buffer = randomBytes(KEY_BYTES)) {
    key.copy(this.#text, 0);
    key.copy(this.#text, this.#text.length - KEY_BYTES);
  }

  /** The id for an address, given out at a second. */
  give(address: string, second: number): Buffer {
    const id = this.#hash(address, second);
    id[0] = second & 0xff;
    return id;
  }

  /** Whether a packet begins with an id that this address was given and that is still good. */
  isGood(packet: Buffer, address: string, second: number): boolean {
    const high = packet.readUInt32BE(0);
    const low = packet.readUInt32BE(4);
    const known = this.#good.get(address);
    if (known !== undefined && known.high === high && known.low === low) {
      return second <= known.until;
    }
    const age = (second - packet[0]!) & 0xff;
    if (age > CONNECTION_ID_SECONDS) return false;
    const id = this.#hash(address, second - age);
    let difference = 0;
    for (let i = 1; i < ID_BYTES; i++) difference |= id[i]! ^ packet[i]!;
    if (difference !== 0) return false;
    this.#remember(address, { high, low, until: second - age + CONNECTION_ID_SECONDS });
    return true;
  }

  /** Forgetting costs a hash, nothing else: so all are forgotten when they are too many. */
  #remember(address: string, good: Good): void {
    if (this.#good.size >= CONNECTION_IDS_REMEMBERED) this.#good.clear();
    this.#good.set(address, good);
  }

  #hash(address: string, second: number): Buffer {
    const text = this.#text;
    text.writeUIntBE(second, KEY_BYTES, 6);
    text[KEY_BYTES + TIME_BYTES] = address.length;
    text.fill(0, KEY_BYTES + TIME_BYTES + 1, KEY_BYTES + TIME_BYTES + 1 + ADDRESS_BYTES);
    text.write(address, KEY_BYTES + TIME_BYTES + 1, "latin1");
    return hash("sha1", text, "buffer").subarray(0, ID_BYTES);
  }
}
