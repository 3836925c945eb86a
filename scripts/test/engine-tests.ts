// Which test files count for the engine's coverage. A module of its own, because it is loaded
// into every test process.

export const ENGINE_FOLDER = "packages/engine";

export function isEngineTest(path: string): boolean {
  return path.replaceAll("\\", "/").startsWith(`${ENGINE_FOLDER}/`);
}
