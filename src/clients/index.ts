import { claudeCode } from './claude-code.ts';
import type { AgentClient, ClientName, HookClient } from './client.ts';
import { codex } from './codex.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';

export type { ClientName, Launcher, Snippet } from './client.ts';

export const CLIENTS: Readonly<Record<ClientName, AgentClient>> = { 'claude-code': claudeCode, codex, cursor, gemini, opencode };
export const ALL_CLIENTS: readonly AgentClient[] = Object.values(CLIENTS);

/** The commit guard asks with a question that is reduced already, and prints the answer itself. */
const git: HookClient = {
  events: { commit: 'pre-commit', push: 'pre-push' },
  contextEvents: [],
  reduce: () => ({}),
  render: (_event, { decision, reason, notice }) => ({ decision, reason, notice }),
};

/** Whoever calls hooks: the clients, and git. */
export const HOOK_CLIENTS: Readonly<Record<string, HookClient>> = { ...Object.fromEntries(ALL_CLIENTS.map(({ name, hooks }) => [name, hooks])), git };
