import type { Points } from "@sluice/protocol";

/** A line from left to right, with gaps where nothing is known. */
export function sparkPath(points: Points, width: number, height: number): string {
  const top = Math.max(1e-9, ...points.map((point) => point ?? 0));
  const step = width / Math.max(1, points.length - 1);
  let path = "";
  let isDown = false;
  for (const [i, point] of points.entries()) {
    if (point === null) {
      isDown = false;
      continue;
    }
    const y = height - 1 - (point / top) * (height - 2);
    path += `${isDown ? "L" : "M"}${(i * step).toFixed(1)} ${y.toFixed(1)}`;
    isDown = true;
  }
  return path;
}
