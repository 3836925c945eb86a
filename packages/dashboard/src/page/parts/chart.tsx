import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import type { ChartSeries } from "./chart-series.ts";

export interface ChartProps {
  title: string;
  /** Milliseconds since 1970. */
  times: readonly number[];
  series: readonly ChartSeries[];
  show(value: number): string;
}

const HEIGHT = 150;

/** Lines over a time. The library comes when the first chart is shown. */
export function Chart({ title, times, series, show }: ChartProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const data = [times.map((at) => at / 1000), ...series.map(({ points }) => points)];
  const shown = useRef(data);
  shown.current = data;
  const labels = series.map(({ label }) => label).join("|");
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    let isGone = false;
    const resize = new ResizeObserver(() => {
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT });
    });
    const draw = async (): Promise<void> => {
      const { newPlot } = await import("./plot.ts");
      if (isGone) return;
      plot.current?.destroy();
      plot.current = newPlot(element, series, show, HEIGHT);
      plot.current.setData(shown.current as uPlot.AlignedData);
    };
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const redraw = (): void => {
      draw().then(
        () => isGone || resize.observe(element),
        // Another server, with other files, has taken the place of the one that sent this page.
        () => element.replaceChildren("The chart could not be loaded: reload the page."),
      );
    };
    scheme.addEventListener("change", redraw);
    redraw();
    return () => {
      isGone = true;
      scheme.removeEventListener("change", redraw);
      resize.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [labels]);
  useEffect(() => plot.current?.setData(data as uPlot.AlignedData));
  // Of one moment the axis would be that moment again and again.
  const isSoon = times.length < 2;
  return (
    <figure class="chart">
      <figcaption>
        {title}
        <span class="legend">
          {series.map(({ label, points, tone }) => (
            <span key={label} class={`key ${tone}`}>
              {label} <b>{show(points.at(-1) ?? 0)}</b>
            </span>
          ))}
        </span>
      </figcaption>
      <div
        class={`plot ${isSoon ? "soon" : ""}`}
        ref={place}
        role="img"
        aria-label={summary(title, series, show)}
      />
      {isSoon && <p class="muted">A line begins with the second point.</p>}
    </figure>
  );
}

/** For users who cannot see it. */
function summary(title: string, series: readonly ChartSeries[], show: ChartProps["show"]): string {
  const parts = series.map(({ label, points }) => {
    const known = points.filter((point) => point !== null);
    const most = known.length === 0 ? 0 : Math.max(...known);
    return `${label} now ${show(known.at(-1) ?? 0)}, at most ${show(most)}`;
  });
  return `${title}: ${parts.join("; ")}`;
}
