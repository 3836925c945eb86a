// What is beside this file, once more on the newer PostgreSQL that npm brings.

import { useNewerPostgres } from "@sluice/log/testing/postgres";

useNewerPostgres();
await import("./postgres-registry.e2e.test.ts");
