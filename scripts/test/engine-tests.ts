// Which test files count for the engine's coverage. A module of its own, because it is loaded
// into every test process.

export const ENGINE_FOLDER = "packages/engine";

// Below it are the entries of processes that files of one folder share, by that folder.
export const TOGETHER = "node_modules/.cache/together";

export function isEngineTest(path: string): boolean {
  const slashed = path.replaceAll("\\", "/");
  return [`${ENGINE_FOLDER}/`, `${TOGETHER}/${ENGINE_FOLDER}/`].some((one) =>
    slashed.startsWith(one),
  );
}
