// What is beside this file, once more on the newer PostgreSQL that npm brings.

import { useNewerPostgres } from "@sluice/log/testing/postgres";

useNewerPostgres();
await import("./outbox.e2e.test.ts");
await import("./once.e2e.test.ts");
await import("./relay.e2e.test.ts");
