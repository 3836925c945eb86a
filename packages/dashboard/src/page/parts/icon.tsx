import type { JSX } from "preact";

/** Strokes on a square of 16. */
const PATHS = {
  queues: "M2 4h12M2 8h12M2 12h8",
  jobs: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9M10.5 10.5 14 14",
  failures: "M8 2 14.5 13.5h-13ZM8 6.5v3M8 11.6v.1",
  schedules: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2M8 5v3.2l2.2 1.3",
  gates: "M2.5 2.5v11M13.5 2.5v11M2.5 5.5h11M2.5 10.5h11M8 5.5v5",
  workers: "M5 5h6v6H5ZM5 2v3M11 2v3M5 11v3M11 11v3M2 5h3M2 11h3M11 5h3M11 11h3",
  events: "M1.5 8.5h3l2-5 3 9 2-4h3",
  keys: "M5 5.5a3 3 0 1 1 0 6 3 3 0 0 1 0-6M8 8.5h6.5M12 8.5v3",
  audit: "M3.5 2h9v12h-9ZM6 5.5h4M6 8h4M6 10.5h2.5",
  webhooks: "M2.5 8h8M7.5 4.5 11 8l-3.5 3.5M13.5 3v10",
  config: "M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M9 3v3M4.5 10v3",
  apps: "M2.5 2.5h4.5v4.5H2.5ZM9 2.5h4.5v4.5H9ZM2.5 9h4.5v4.5H2.5ZM9 9h4.5v4.5H9Z",
  menu: "M2 4h12M2 8h12M2 12h12",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
