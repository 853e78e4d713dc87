import { claudeCode } from './claude-code.ts';
import type { AgentClient, ClientName, HookClient } from './client.ts';
import { codex } from './codex.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';

export type { ClientName, Launcher, Snippet } from './client.ts';

export const CLIENTS: Readonly<Record<ClientName, AgentClient>> = { 'claude-code': claudeCode, codex, cursor, gemini, opencode };
export const ALL_CLIENTS: readonly AgentClient[] = Object.values(CLIENTS);

/** The programs whose hooks can call the server directly. These hooks send prompts and file contents to the server. */
export const HTTP_HOOK_PROGRAMS = ALL_CLIENTS.flatMap(({ hooks, displayName }) => (hooks.overHttp ? displayName : [])).join(' and ');

/** Hooks of git. The commit guard sends a question that is already reduced, and prints the answer itself. */
const git: HookClient = {
  events: { commit: 'pre-commit', push: 'pre-push' },
  contextEvents: [],
  fileTools: {},
  reduce: () => ({}),
  render: (_event, { decision, reason, notice }) => ({ decision, reason, notice }),
};

/** The hook formats of all callers: the clients and git. */
export const HOOK_CLIENTS: Readonly<Record<string, HookClient>> = { ...Object.fromEntries(ALL_CLIENTS.map(({ name, hooks }) => [name, hooks])), git };

const BY_RANK: readonly AgentClient[] = ALL_CLIENTS.toSorted((one, other) => one.commandMarks.rank - other.commandMarks.rank);

/**
 * Finds the agent program that runs the command with this environment, and the program's own id of the run. Undefined if no agent
 * program runs it.
 */
export function programRunning(env: NodeJS.ProcessEnv): { readonly client: ClientName; readonly run: string | undefined } | undefined {
  const found = BY_RANK.find(({ commandMarks }) => commandMarks.set.some((variable) => env[variable]));
  return found && { client: found.name, run: (found.commandMarks.run && env[found.commandMarks.run]) || undefined };
}
