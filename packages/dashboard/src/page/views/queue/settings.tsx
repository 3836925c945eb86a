import type { QueueInfo } from "@sluice/protocol";
import type { JSX } from "preact";
import { pretty } from "../../words/preview.ts";

export function Settings({ info }: { info: QueueInfo | undefined }): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <pre class="code" tabIndex={0}>
      {info === undefined ? "" : pretty(info.config)}
    </pre>
  );
}
