// The documentation site: `npm run docs` serves it, `npm run docs -- build` writes it to dist/site.

import { defineConfig } from "vitepress";
import { withFileNames } from "./file-names.ts";
import { REPOSITORY, toRepository } from "./links.ts";
import { writeLlmsTexts } from "./llms.ts";

const page = (text: string, link: string) => ({ text, link });

export default defineConfig({
  title: "Sluice",
  description: "A durable job queue that decides at dispatch time",
  outDir: "../dist/site",
  cacheDir: "../node_modules/.cache/vitepress",
  cleanUrls: false,
  markdown: {
    config(markdown) {
      toRepository(markdown);
      withFileNames(markdown);
    },
  },
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  buildEnd: ({ outDir, srcDir }) => writeLlmsTexts(srcDir, outDir),
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    socialLinks: [{ icon: "github", link: REPOSITORY }],
    nav: [
      page("Start", "/start/install"),
      page("Guides", "/guides/"),
      page("Concepts", "/concepts/fairness"),
      page("Reference", "/reference/"),
      page("Compare", "/comparison"),
    ],
    sidebar: [
      {
        text: "Start",
        items: [
          page("What it is", "/start/what-is-sluice"),
          page("Install", "/start/install"),
          page("Tutorial", "/start/tutorial"),
        ],
      },
      {
        text: "Guides",
        collapsed: true,
        items: [
          page("All guides", "/guides/"),
          page("Mail for many tenants", "/guides/mail-for-many-tenants"),
          page("Calling a language model", "/guides/language-model"),
          page("Webhooks out", "/guides/webhooks-out"),
          page("A nightly report", "/guides/nightly-report"),
          page("A pipeline with fan-out", "/guides/pipeline"),
          page("Scraping politely", "/guides/scraping"),
          page("Idempotent handlers", "/guides/idempotent-handlers"),
          page("Shutdown and deploys", "/guides/shutdown"),
          page("Testing", "/guides/testing"),
          page("Tracing and metrics", "/guides/tracing-and-metrics"),
          page("Running a server", "/guides/server"),
          page("A cluster", "/cluster"),
          page("PostgreSQL", "/postgres"),
          page("Upgrading", "/guides/upgrading"),
          page("Backing up", "/guides/backing-up"),
          page("A bad day", "/guides/bad-day"),
          page("A dead letter", "/guides/dead-letter"),
        ],
      },
      {
        text: "Concepts",
        collapsed: true,
        items: [
          page("Fairness", "/concepts/fairness"),
          page("Gates", "/concepts/gates"),
          page("Leases and retries", "/concepts/leases-and-retries"),
          page("Durability", "/concepts/durability"),
          page("Schedules", "/schedules"),
          page("Flows", "/flows"),
          page("Steps", "/steps"),
          page("Policies", "/policies"),
          page("Glossary", "/concepts/glossary"),
        ],
      },
      {
        text: "Reference",
        collapsed: true,
        items: [
          page("Overview", "/reference/"),
          page("Library", "/reference/library"),
          page("Calls", "/reference/api"),
          page("Options", "/reference/options"),
          page("Errors", "/reference/errors"),
          page("Command line", "/reference/cli"),
          page("Configuration", "/reference/configuration"),
          page("HTTP", "/reference/http"),
          page("Stream", "/protocol"),
          page("Metrics", "/reference/metrics"),
          page("Events", "/reference/events"),
          page("Limits", "/reference/limits"),
        ],
      },
      {
        text: "Operate",
        collapsed: true,
        items: [
          page("Operating", "/operating"),
          page("Cluster: promises and size", "/cluster-promises"),
          page("Cluster: runbooks", "/cluster-runbooks"),
          page("Dashboard", "/dashboard"),
        ],
      },
      {
        text: "Coming from",
        collapsed: true,
        items: [
          page("BullMQ", "/coming-from/bullmq"),
          page("pg-boss", "/coming-from/pg-boss"),
          page("Graphile Worker", "/coming-from/graphile-worker"),
          page("SQS", "/coming-from/sqs"),
          page("Celery", "/coming-from/celery"),
          page("Temporal", "/coming-from/temporal"),
          page("Inngest", "/coming-from/inngest"),
          page("Comparison", "/comparison"),
        ],
      },
      {
        text: "Systems",
        collapsed: true,
        items: [
          page("Retracker", "/retracker"),
          page("Torznab service", "/torznab"),
          page("Job server", "/jobserver"),
        ],
      },
      {
        text: "Inside",
        collapsed: true,
        items: [
          page("Architecture", "/architecture"),
          page("Scheduling rules", "/scheduling"),
          page("Promises", "/promises"),
          page("Format", "/format"),
          page("Benchmarks", "/benchmarks"),
        ],
      },
    ],
  },
});
