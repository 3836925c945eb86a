/** Signed messages to other programs over HTTP, delivered through a queue of their own. */
export { type EventWebhooksOptions, eventWebhooks } from "./webhooks/event-webhooks.ts";
export {
  newWebhookSecret,
  type SignedWebhook,
  signWebhook,
  verifyWebhook,
} from "./webhooks/signature.ts";
export { type Webhook, type WebhookOptions, Webhooks } from "./webhooks/webhooks.ts";
