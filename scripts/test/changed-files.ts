// Which files differ from main: those of the branch's own commits, and what is not committed.

import { execFileSync } from "node:child_process";

export function changedFiles(root: string, base = "main"): string[] {
  const git = (...args: string[]): string[] =>
    execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);
  const [fork = base] = git("merge-base", base, "HEAD");
  const tracked = git("diff", "--name-only", fork);
  const untracked = git("ls-files", "--others", "--exclude-standard");
  return [...new Set([...tracked, ...untracked])].sort();
}
