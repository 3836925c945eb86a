import { ENGINE_SUBJECTS } from "@sluice/protocol/conformance";
import { conforms } from "../testing/conforms.ts";

conforms("a cluster of 1 partition", { partitions: 1, exceptions: {}, skipped: ENGINE_SUBJECTS });
