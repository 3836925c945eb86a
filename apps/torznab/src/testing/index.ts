// For end-to-end tests elsewhere in the repository; not published.
export { type IndexerServer, sampleItems } from "./indexer-server.ts";
export { openIndexer, type Started, start } from "./start.ts";
