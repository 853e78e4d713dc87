import { describe, expect, it } from 'vitest';
import type { HookAnswer, HookEvent } from '../wire/hook-question.ts';
import { ALL_CLIENTS, HOOK_CLIENTS, programRunning } from './index.ts';
import { LONGEST_LINE } from './shell.ts';

/** Real payloads of the clients. Contents, prompts and answers are replaced by marked texts, and no such text may appear in the result. */
const CANARY = 'CANARY';
const claude = { session_id: 'run-1', transcript_path: `/home/ana/${CANARY}.jsonl`, cwd: '/repo', prompt_id: 'p', permission_mode: 'default' };
const codex = { session_id: 'run-1', turn_id: 't', transcript_path: null, cwd: '/repo', model: 'gpt-5.5', permission_mode: 'default' };
const gemini = { session_id: 'run-1', transcript_path: `/home/ana/${CANARY}.jsonl`, cwd: '/repo', timestamp: '2026-11-16T07:23:27.431Z' };
const cursor = { conversation_id: 'run-1', generation_id: 'g', model: 'm', cursor_version: '2.4', workspace_roots: ['/repo'], user_email: `${CANARY}@x` };
const opencode = { session_id: 'run-1', cwd: '/repo' };

const written = (...paths: string[]) => paths.map((path) => ({ path }));

const PAYLOADS: [client: string, event: HookEvent, native: Record<string, unknown>, reduced: Record<string, unknown>][] = [
  ['claude-code', 'session-start', { ...claude, hook_event_name: 'SessionStart', source: 'compact' }, { source: 'compact' }],
  ['claude-code', 'prompt', { ...claude, hook_event_name: 'UserPromptSubmit', prompt: CANARY }, {}],
  [
    'claude-code',
    'before-tool',
    { ...claude, tool_name: 'Write', tool_input: { file_path: '/repo/c.txt', content: CANARY } },
    { tool: 'Write', files: written('/repo/c.txt') },
  ],
  [
    'claude-code',
    'before-tool',
    { ...claude, tool_name: 'NotebookEdit', tool_input: { notebook_path: '/repo/n.ipynb', new_source: CANARY } },
    { tool: 'NotebookEdit', files: written('/repo/n.ipynb') },
  ],
  [
    'claude-code',
    'before-tool',
    { ...claude, tool_name: 'Bash', tool_input: { command: `echo ${CANARY} > b.txt` } },
    { tool: 'Bash', files: written('b.txt') },
  ],
  ['claude-code', 'before-tool', { ...claude, tool_name: 'Read', tool_input: { file_path: '/repo/c.txt' } }, { tool: 'Read' }],
  [
    'claude-code',
    'after-tool',
    { ...claude, tool_name: 'Write', tool_input: { file_path: '/repo/c.txt', content: CANARY }, tool_response: { content: CANARY } },
    { tool: 'Write' },
  ],
  [
    'claude-code',
    'after-tool',
    { ...claude, tool_name: 'mcp__covibe__covibe_session', tool_input: { operation: 'start' }, tool_response: '{"data":{"session_id":"ses_01"}}' },
    { tool: 'mcp__covibe__covibe_session', session_id: 'ses_01', session_started: true },
  ],
  ['claude-code', 'stop', { ...claude, stop_hook_active: true, last_assistant_message: CANARY }, { again: true }],
  ['claude-code', 'session-end', { ...claude, reason: 'other' }, {}],
  ['codex', 'session-start', { ...codex, source: 'startup' }, { source: 'startup', model: 'gpt-5.5' }],
  [
    'codex',
    'before-tool',
    {
      ...codex,
      tool_name: 'apply_patch',
      tool_input: { command: `*** Begin Patch\n*** Add File: c.txt\n+${CANARY}\n*** Update File: a.txt\n@@\n-old\n+${CANARY}\n*** End Patch` },
    },
    { tool: 'apply_patch', model: 'gpt-5.5', files: written('c.txt', 'a.txt') },
  ],
  [
    'codex',
    'before-tool',
    { ...codex, tool_name: 'Bash', tool_input: { command: `echo ${CANARY} > b.txt` } },
    { tool: 'Bash', model: 'gpt-5.5', files: written('b.txt') },
  ],
  [
    'codex',
    'before-tool',
    { ...codex, tool_name: 'Bash', tool_input: { command: 'rm -rf src' } },
    { tool: 'Bash', model: 'gpt-5.5', files: [{ path: 'src', tree: true, removed: true }] },
  ],
  [
    'claude-code',
    'before-tool',
    { ...claude, tool_name: 'Bash', tool_input: { command: `touch f # ${CANARY.repeat(LONGEST_LINE)}` } },
    { tool: 'Bash', files: written('f'), unread: true },
  ],
  ['codex', 'stop', { ...codex, stop_hook_active: false, last_assistant_message: CANARY }, { model: 'gpt-5.5' }],
  ['gemini', 'prompt', { ...gemini, prompt: CANARY }, {}],
  [
    'gemini',
    'before-tool',
    { ...gemini, tool_name: 'write_file', tool_input: { file_path: 'c.txt', content: CANARY } },
    { tool: 'write_file', files: written('c.txt') },
  ],
  [
    'gemini',
    'before-tool',
    { ...gemini, tool_name: 'replace', tool_input: { file_path: '/repo/a.txt', new_string: CANARY } },
    { tool: 'replace', files: written('/repo/a.txt') },
  ],
  [
    'gemini',
    'before-tool',
    { ...gemini, tool_name: 'run_shell_command', tool_input: { command: 'touch x', dir_path: 'sub' } },
    { tool: 'run_shell_command', files: written('sub/x') },
  ],
  ['gemini', 'stop', { ...gemini, prompt: CANARY, prompt_response: CANARY, stop_hook_active: true }, { again: true }],
  ['cursor', 'session-start', { ...cursor, session_id: 'run-1', is_background_agent: false }, { source: 'startup', model: 'm' }],
  [
    'cursor',
    'before-tool',
    { ...cursor, tool_name: 'Write', tool_input: { file_path: '/repo/c.txt', content: CANARY } },
    { tool: 'Write', model: 'm', files: written('/repo/c.txt') },
  ],
  ['cursor', 'before-tool', { ...cursor, cwd: '/repo', command: `echo ${CANARY} > b.txt` }, { model: 'm', files: written('b.txt') }],
  [
    'cursor',
    'after-tool',
    { ...cursor, tool_name: 'MCP:covibe_task', tool_input: '{"session_id":"ses_01"}', tool_output: CANARY },
    { tool: 'MCP:covibe_task', model: 'm', session_id: 'ses_01' },
  ],
  ['cursor', 'stop', { ...cursor, status: 'completed', loop_count: 1 }, { model: 'm', again: true }],
  ['cursor', 'stop', { ...cursor, status: 'aborted', loop_count: 0 }, { model: 'm', again: true }],
  [
    'opencode',
    'before-tool',
    { ...opencode, tool_name: 'edit', tool_input: { filePath: '/repo/a.txt', newString: CANARY } },
    { tool: 'edit', files: written('/repo/a.txt') },
  ],
  [
    'opencode',
    'before-tool',
    { ...opencode, tool_name: 'bash', tool_input: { command: 'touch x', workdir: '/repo/sub' } },
    { tool: 'bash', files: written('/repo/sub/x') },
  ],
];

describe('what is taken from a payload', () => {
  it.each(PAYLOADS)('%s %s %#', (client, event, native, expected) => {
    const reduced = HOOK_CLIENTS[client]?.reduce(event, native);
    expect(JSON.parse(JSON.stringify(reduced))).toEqual({ client_session: 'run-1', folder: '/repo', ...expected });
    expect(JSON.stringify(reduced)).not.toContain(CANARY);
  });

  it('takes nothing from a payload of another shape', () => {
    for (const client of Object.values(HOOK_CLIENTS)) {
      const reduced = client.reduce('before-tool', { session_id: 7, cwd: null, tool_name: ['x'], tool_input: 'y', workspace_roots: {} });
      expect(JSON.parse(JSON.stringify(reduced))).toEqual({});
    }
  });
});

const SILENT: HookAnswer = { decision: 'allow', reason: null, context: null, notice: null, session_id: null, fail_closed: false };
const DENIED: HookAnswer = { ...SILENT, decision: 'deny', reason: 'why' };
const TOLD: HookAnswer = { ...SILENT, context: 'news' };

describe('the answer to a client', () => {
  const specific = (hookEventName: string, more: object) => ({ hookSpecificOutput: { hookEventName, ...more } });
  const deny = { permissionDecision: 'deny', permissionDecisionReason: 'why' };
  it.each<[string, HookEvent, HookAnswer, object]>([
    ['claude-code', 'before-tool', DENIED, specific('PreToolUse', deny)],
    ['claude-code', 'prompt', TOLD, specific('UserPromptSubmit', { additionalContext: 'news' })],
    ['claude-code', 'stop', DENIED, { decision: 'block', reason: 'why' }],
    ['claude-code', 'after-tool', { ...SILENT, notice: 'psst' }, { systemMessage: 'psst' }],
    ['codex', 'before-tool', DENIED, specific('PreToolUse', deny)],
    ['codex', 'session-start', TOLD, specific('SessionStart', { additionalContext: 'news' })],
    ['codex', 'session-end', { ...TOLD, notice: 'psst' }, {}],
    ['gemini', 'before-tool', DENIED, { decision: 'deny', reason: 'why' }],
    ['gemini', 'after-tool', TOLD, specific('AfterTool', { additionalContext: 'news' })],
    ['gemini', 'stop', DENIED, { decision: 'deny', reason: 'why' }],
    ['cursor', 'before-tool', DENIED, { permission: 'deny', user_message: 'why', agent_message: 'why' }],
    ['cursor', 'after-tool', TOLD, { additional_context: 'news' }],
    ['cursor', 'stop', DENIED, { followup_message: 'why' }],
    ['opencode', 'before-tool', DENIED, { deny: 'why' }],
    ['opencode', 'compact', TOLD, { context: 'news' }],
  ])('%s %s %#', (client, event, answer, expected) => {
    expect(HOOK_CLIENTS[client]?.render(event, answer)).toEqual(expected);
  });

  it('is empty if there is nothing to say, so that it decides nothing in place of a person', () => {
    for (const [name, client] of Object.entries(HOOK_CLIENTS)) {
      for (const event of Object.keys(client.events) as HookEvent[]) {
        if (name !== 'git') expect(client.render(event, SILENT)).toEqual({});
      }
    }
  });

  it('contains a context exactly if the client shows it to its agent at that event', () => {
    for (const client of Object.values(HOOK_CLIENTS)) {
      for (const event of Object.keys(client.events) as HookEvent[]) {
        expect(JSON.stringify(client.render(event, TOLD)).includes('news')).toBe(client.contextEvents.includes(event));
      }
    }
  });
});

describe('the program that runs a command', () => {
  const marksOf = (names: readonly string[]) =>
    Object.fromEntries(ALL_CLIENTS.flatMap(({ name, commandMarks }) => (names.includes(name) ? commandMarks.set.map((mark) => [mark, 'run-1']) : [])));

  it('is the one with the lowest rank among those that left marks, and ranks are unique', () => {
    const left = ALL_CLIENTS.map(({ name }) => name as string);
    const found: string[] = [];
    for (let running = programRunning(marksOf(left)); running; running = programRunning(marksOf(left))) {
      found.push(running.client);
      left.splice(left.indexOf(running.client), 1);
    }
    expect(found).toEqual(['claude-code', 'codex', 'gemini', 'cursor', 'opencode']);
    expect(new Set(ALL_CLIENTS.map(({ commandMarks }) => commandMarks.rank)).size).toBe(ALL_CLIENTS.length);
  });
});
