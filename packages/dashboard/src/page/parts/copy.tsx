import type { JSX } from "preact";
import { usePlace } from "../data/context.ts";

/** Copies a text. Browsers give a clipboard only to pages under TLS or on this machine. */
export function Copy({ text, label }: { text: string; label: string }): JSX.Element | null {
  const { say } = usePlace();
  if (navigator.clipboard === undefined) return null;
  const copy = async (): Promise<void> => {
    const isDone = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    say(isDone ? `${label} was copied.` : "The browser does not let this page copy.");
  };
  return (
    <button type="button" class="small quiet" aria-label={`Copy ${label}`} onClick={copy}>
      Copy
    </button>
  );
}
