import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../testing/store/database.ts';
import { opencodePlugin } from './opencode.ts';

interface Plugin {
  event(said: { event: { type: string; properties: object } }): Promise<void>;
  'chat.message'(input: object, output: { message: object; parts: { id: string; text?: string }[] }): Promise<void>;
  'tool.execute.before'(input: object, output: { args: object }): Promise<void>;
  'tool.execute.after'(input: object, output: { output?: string; content?: object[] }): Promise<void>;
  dispose(): Promise<void>;
}

/** The plugin as opencode loads it. Its command records its input and returns the test's answer for the event. */
async function loaded(answers: Record<string, object>) {
  const folder = temporaryFolder();
  const command = join(folder, 'hook');
  for (const [event, answer] of Object.entries(answers)) writeFileSync(join(folder, event), JSON.stringify(answer));
  writeFileSync(command, `#!/bin/sh\ncat >> '${folder}/heard'; echo >> '${folder}/heard'\ncat '${folder}'/"$2" 2>/dev/null\n`);
  chmodSync(command, 0o755);
  writeFileSync(join(folder, 'covibe.mjs'), opencodePlugin([command, 'given']));
  const { Covibe } = (await import(pathToFileURL(join(folder, 'covibe.mjs')).href)) as { Covibe(input: object): Promise<Plugin> };
  const prompted: unknown[] = [];
  const toasts: unknown[] = [];
  const client = {
    session: { promptAsync: async (prompt: unknown) => prompted.push(prompt) },
    tui: { showToast: async (toast: unknown) => toasts.push(toast) },
  };
  const plugin = await Covibe({ directory: '/repo', client });
  const heard = () => (existsSync(join(folder, 'heard')) ? readFileSync(join(folder, 'heard'), 'utf8').trim().split('\n') : []).map((line) => JSON.parse(line));
  return { plugin, prompted, toasts, heard };
}

const created = (info: object) => ({ event: { type: 'session.created', properties: { info } } });
const idle = { event: { type: 'session.idle', properties: { sessionID: 's1' } } };
const said = () => ({ message: { id: 'm1' }, parts: [{ id: 'prt_1', text: 'hello' }] });

it('a run starts with its first message, and its context is appended to that message', async () => {
  const { plugin, heard } = await loaded({ 'session-start': { context: 'your session' }, prompt: { context: 'news' } });
  await plugin.event(created({ id: 's1' }));
  const message = said();
  await plugin['chat.message']({ sessionID: 's1' }, message);
  expect(message.parts[1]).toEqual({ id: 'prt_1c', sessionID: 's1', messageID: 'm1', type: 'text', synthetic: true, text: 'your session\n\nnews' });
  expect(heard()).toMatchObject([{ hook_event_name: 'session-start', session_id: 's1', cwd: '/repo', source: 'startup' }, { hook_event_name: 'prompt' }]);
  expect(JSON.stringify(heard())).not.toContain('hello');
  await plugin.dispose();
  expect(heard().at(-1)).toMatchObject({ hook_event_name: 'session-end', session_id: 's1' });
});

it('a denied tool does not run, not even in a subagent, which belongs to the same run', async () => {
  const { plugin, heard } = await loaded({ 'before-tool': { deny: 'a.ts is claimed' } });
  await plugin.event(created({ id: 's1' }));
  await plugin.event(created({ id: 's2', parentID: 's1' }));
  await expect(plugin['tool.execute.before']({ tool: 'write', sessionID: 's2' }, { args: { filePath: 'a.ts' } })).rejects.toThrow('a.ts is claimed');
  expect(heard().at(-1)).toMatchObject({ session_id: 's1', tool_name: 'write', tool_input: { filePath: 'a.ts' } });
});

it("news is appended to the output of any tool; a tool's output stays local unless the tool is ours", async () => {
  const { plugin, heard } = await loaded({ 'after-tool': { context: 'news' } });
  const output = { output: 'CANARY' };
  await plugin['tool.execute.after']({ tool: 'read', sessionID: 's1', args: { filePath: 'a' } }, output);
  expect(output.output).toBe('CANARY\n\nnews');
  expect(JSON.stringify(heard())).not.toContain('CANARY');
  const ours = { content: [{ type: 'text', text: 'x' }] };
  await plugin['tool.execute.after']({ tool: 'covibe_covibe_session', sessionID: 's1', args: { operation: 'start' } }, ours);
  expect(ours.content).toHaveLength(2);
  expect(heard().at(-1)).toMatchObject({ tool_input: { operation: 'start' }, tool_response: { content: [{ text: 'x' }] } });
});

it('shows notices to the person', async () => {
  const { plugin, toasts } = await loaded({ 'before-tool': { notice: 'the server is away' } });
  await plugin['tool.execute.before']({ tool: 'write', sessionID: 's1' }, { args: {} });
  expect(toasts).toEqual([{ body: { title: 'Covenant', message: 'the server is away', variant: 'warning' } }]);
});

it('a run that must not stop yet gets the reason, and reports at its next stop that it had to continue', async () => {
  const { plugin, prompted, heard } = await loaded({ stop: { deny: 'an ask waits' } });
  await plugin['chat.message']({ sessionID: 's1' }, said());
  await plugin.event(idle);
  expect(prompted).toEqual([{ path: { id: 's1' }, body: { parts: [{ type: 'text', text: 'an ask waits' }] } }]);
  await plugin['chat.message']({ sessionID: 's1' }, said());
  await plugin.event(idle);
  const stops = () =>
    heard()
      .filter(({ hook_event_name }) => hook_event_name === 'stop')
      .map(({ stop_hook_active }) => stop_hook_active);
  expect(stops()).toEqual([false, true]);
  await plugin['chat.message']({ sessionID: 's1' }, said());
  await plugin['chat.message']({ sessionID: 's1' }, said());
  await plugin.event(idle);
  expect(stops()).toEqual([false, true, false]);
});

it.each([
  ['is gone', undefined],
  ['fails', 'exit 1'],
  ['says nothing', 'exit 0'],
  ['says what nobody reads', 'echo no'],
])('a command that %s does not block the agent', async (_, script) => {
  const folder = temporaryFolder();
  const command = join(folder, 'hook');
  const heard = join(folder, 'heard');
  if (script !== undefined) writeFileSync(command, `#!/bin/sh\necho "$1" >> '${heard}'\n${script}\n`, { mode: 0o755 });
  writeFileSync(join(folder, 'covibe.mjs'), opencodePlugin([command]));
  const { Covibe } = (await import(pathToFileURL(join(folder, 'covibe.mjs')).href)) as { Covibe(input: object): Promise<Plugin> };
  const prompted: unknown[] = [];
  const plugin = await Covibe({ directory: '/repo', client: { session: { promptAsync: async (prompt: unknown) => prompted.push(prompt) } } });
  await expect(plugin['chat.message']({ sessionID: 's1' }, said())).resolves.toBeUndefined();
  await expect(plugin['tool.execute.before']({ tool: 'write', sessionID: 's1' }, { args: {} })).resolves.toBeUndefined();
  await plugin.event(idle);
  expect(prompted).toEqual([]);
  if (script !== undefined) expect(readFileSync(heard, 'utf8').trim().split('\n')).toContain('stop');
});
