/** What sends the messages: the server decides which, and a queue of the broker delivers them. */
import type { Broker } from "@sluice/protocol";

export interface WebhookMessage {
  readonly url: string;
  readonly type: string;
  readonly data: unknown;
  /** The webhook that it belongs to: its secret signs the message. */
  readonly signer: string;
  /** A message with an id that was sent before is not sent again. */
  readonly id: string;
}

export interface WebhookSender {
  /** The queue that messages wait in. What happens there is sent to none. */
  readonly queue: string;
  /** Refuses an address that is never called. */
  check(url: string): void;
  /**
   * Answers the id of the message's job, when that is durable. Refuses with QUEUE_FULL when too
   * many messages of the webhook wait.
   */
  send(message: WebhookMessage): Promise<string>;
  close(): Promise<void>;
}

/**
 * `webhookOf` answers where a webhook's messages go and what signs them; undefined: it was deleted
 * or has stopped, and its messages are given up.
 */
export type OpenWebhookSender = (
  broker: Broker,
  webhookOf: (signer: string) => { readonly url: string; readonly secret: string } | undefined,
) => Promise<WebhookSender>;
