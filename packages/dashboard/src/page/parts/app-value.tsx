import type { AppValue } from "@sluice/protocol";
import type { JSX } from "preact";
import { useNow } from "../data/context.ts";
import { safeHref, textOf } from "../words/app-value.ts";
import { fullTime, timeOfDay } from "../words/format.ts";

/** One value of an app's page. */
export function Value({ value }: { value: AppValue }): JSX.Element {
  const now = useNow();
  if (typeof value !== "object") return <>{textOf(value)}</>;
  if ("at" in value) {
    return (
      <time dateTime={new Date(value.at).toISOString()} title={fullTime(value.at)}>
        {timeOfDay(value.at, now)}
      </time>
    );
  }
  if ("limit" in value) {
    const text = textOf(value);
    return (
      <span class="level">
        <meter min={0} max={Math.max(1, value.limit)} value={value.used} aria-label={text} />
        <span class="number">{text}</span>
      </span>
    );
  }
  const href = "href" in value ? safeHref(value.href) : undefined;
  if (href === undefined) return <>{textOf(value)}</>;
  const isElsewhere = /^https?:/i.test(href);
  return (
    <a href={href} {...(isElsewhere ? { target: "_blank", rel: "noreferrer noopener" } : {})}>
      {textOf(value)}
    </a>
  );
}
