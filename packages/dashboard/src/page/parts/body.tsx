import type { ComponentChildren, JSX } from "preact";
import { Copy } from "./copy.tsx";

export interface BodyProps {
  title: string;
  text: string;
  /** What is copied, when it is not what is shown. */
  copied?: string | undefined;
  isBad?: boolean;
  /** Below the text. */
  children?: ComponentChildren;
}

/** A text as it is, in a frame that scrolls, with a button that copies it. */
export function Body({ title, text, copied, isBad, children }: BodyProps): JSX.Element {
  return (
    <section class="text">
      <header>
        <h2>{title}</h2>
        <Copy text={copied ?? text} label={title} />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable. */}
      <pre class={`code ${isBad === true ? "bad" : ""}`} tabIndex={0}>
        {text}
        {children}
      </pre>
    </section>
  );
}
