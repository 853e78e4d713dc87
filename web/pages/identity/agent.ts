import type { ActionInput, Token } from '../../api.ts';

export type AgentType = NonNullable<ActionInput<'tokens.create'>['agent']>;

const NAMES: Record<AgentType, string> = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  cursor: 'Cursor',
  gemini: 'Gemini CLI',
  opencode: 'opencode',
};

export const AGENTS = Object.entries(NAMES) as [AgentType, string][];

export const agentOf = (value: string): AgentType | undefined => AGENTS.find(([agent]) => agent === value)?.[0];

/** Returns the display name of an agent program. An unknown program is shown with its own name. */
export const nameOf = (agent: string): string => AGENTS.find(([type]) => type === agent)?.[1] ?? agent;

export const namesOf = (agents: readonly string[]): string => new Intl.ListFormat('en').format(agents.map(nameOf));

/** Describes which program uses a token. */
export function carrierOf({ kind, agent }: Token): string {
  if (kind === 'web') return 'A browser';
  return agent === null ? 'Any program' : nameOf(agent);
}
