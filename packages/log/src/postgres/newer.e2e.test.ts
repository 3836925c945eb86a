// What is beside this file, once more on the newer PostgreSQL that npm brings.

import { useNewerPostgres } from "../testing/postgres-programs.ts";

useNewerPostgres();
await import("./postgres-log.e2e.test.ts");
await import("./faults.e2e.test.ts");
