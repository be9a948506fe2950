import type { Agent } from "./agent.ts";
import { CLAUDE } from "./claude.ts";
import { CLINE } from "./cline.ts";
import { CODEX } from "./codex.ts";
import { CONTINUE } from "./continue.ts";
import { OPENCODE } from "./opencode.ts";

export type { Agent } from "./agent.ts";

export const AGENTS: readonly Agent[] = [CLAUDE, ...CODEX, ...OPENCODE, CLINE, ...CONTINUE];

/**
 * The agents of these names; `opencode` stands for every `opencode/…`, no names for all.
 * @throws Error for a name that is none.
 */
export function agentsNamed(names: readonly string[]): readonly Agent[] {
  if (names.length === 0) return AGENTS;
  const stranger = names.find((name) => !AGENTS.some((agent) => isNamed(agent, name)));
  if (stranger !== undefined)
    throw new Error(`--agent ${stranger}: no such agent; there are ${AGENTS.map((agent) => agent.name).join(", ")}`);
  return AGENTS.filter((agent) => names.some((name) => isNamed(agent, name)));
}

function isNamed(agent: Agent, name: string): boolean {
  return agent.name === name || agent.name.startsWith(`${name}/`);
}
