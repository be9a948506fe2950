import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Child } from "../e2e/support/child.ts";
import type { Agent } from "./agents/agent.ts";

/**
 * Fetches agents in their pinned versions into a folder; what is there already stays.
 * @returns where their programs are. @throws Error with what npm said.
 */
export async function install(folder: string, agents: readonly Agent[]): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const manifest = join(folder, "package.json");
  if (!existsSync(manifest)) writeFileSync(manifest, '{ "name": "agents", "private": true }\n');
  const packages = new Set(agents.map((agent) => `${agent.package}@${agent.version}`));
  const quiet = ["--save-exact", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = new Child("npm", ["install", ...quiet, ...packages], { cwd: folder, env: environment() });
  const { code, stderr } = await npm.exited;
  const programs = join(folder, "node_modules/.bin");
  const missing = agents.find((agent) => !existsSync(join(programs, agent.bin)));
  if (code !== 0 || missing)
    throw new Error(`npm install ${[...packages].join(" ")} ended with ${code}: ${stderr.slice(-2000)}`);
  return programs;
}

/** npm's own settings decide how a registry is reached. */
function environment(): Record<string, string> {
  return Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? ""]));
}
