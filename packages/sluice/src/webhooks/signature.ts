/**
 * Signatures of webhooks, as https://www.standardwebhooks.com describes them: HMAC-SHA256 over
 * `id.timestamp.body`, in the header `webhook-signature`. A receiver that checks the time too
 * cannot be given an old message again.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { type Duration, parseDuration, SluiceError } from "@sluice/protocol";
import { WEBHOOK_TOLERANCE_MS } from "../limits.ts";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

export interface SignedWebhook {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** The headers that a message is sent with. */
export function signWebhook(message: SignedWebhook, secret: string): Record<string, string> {
  return {
    "webhook-id": message.id,
    "webhook-timestamp": String(message.timestamp),
    "webhook-signature": `v1,${digest(message, secret).toString("base64")}`,
  };
}

/**
 * What a message carries while it waits in a queue that others may add to. Its key is not the one
 * of signatures: who reads the queue gets nothing that a receiver would take.
 */
export function sealWebhook(text: string, secret: string): string {
  return createHmac("sha256", `seal.${secret}`).update(text).digest("base64url");
}

export function isSealed(seal: unknown, text: string, secret: string): boolean {
  const given = Buffer.from(String(seal));
  const wanted = Buffer.from(sealWebhook(text, secret));
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/**
 * For a receiver: throws `UNAUTHORIZED` unless the message was signed with this secret, no longer
 * ago than `tolerance` (5 minutes). The body is what was received, before it is parsed.
 */
export function verifyWebhook(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: string | Uint8Array,
  secret: string,
  { tolerance = WEBHOOK_TOLERANCE_MS, now = Date.now() }: VerifyOptions = {},
): void {
  const id = headers["webhook-id"];
  const time = headers["webhook-timestamp"];
  const signatures = headers["webhook-signature"];
  if (typeof id !== "string" || typeof time !== "string" || typeof signatures !== "string") {
    throw refused("the webhook is not signed: a webhook-* header is missing");
  }
  const timestamp = /^\d{1,12}$/.test(time) ? Number(time) : Number.NaN;
  const toleranceMs = parseDuration("tolerance", tolerance);
  if (!(Math.abs(now - timestamp * 1000) <= toleranceMs)) {
    throw refused(
      `the webhook's time ${time.slice(0, 20)} is too far from now: compare both clocks (in seconds)`,
    );
  }
  const wanted = digest({ id, timestamp, body }, secret);
  const isSigned = signatures.split(" ").some((signature) => {
    const [version, value = ""] = signature.split(",", 2);
    const given = Buffer.from(value, "base64");
    return version === "v1" && given.length === wanted.length && timingSafeEqual(given, wanted);
  });
  if (!isSigned) throw refused("the webhook was signed with another secret, or changed on its way");
}

interface VerifyOptions {
  tolerance?: Duration;
  now?: number;
}

interface Digested extends Omit<SignedWebhook, "body"> {
  readonly body: string | Uint8Array;
}

/** With an empty key, as of a variable that is not set, anyone could sign. */
function digest({ id, timestamp, body }: Digested, secret: string): Buffer {
  const isEncoded = secret.startsWith(PREFIX);
  const key = isEncoded ? Buffer.from(secret.slice(PREFIX.length), "base64") : Buffer.from(secret);
  if (key.length === 0) {
    const empty = "the secret of the webhook is empty; use the one shown when it was created";
    throw new SluiceError("INVALID", empty, { field: "secret" });
  }
  return createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
}

function refused(message: string): SluiceError {
  return new SluiceError("UNAUTHORIZED", message);
}
