import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testApp } from '../../testing/app.ts';
import { testMachine } from '../../testing/programs/companion.ts';
import { temporaryRepository } from '../../testing/scenes/repository.ts';
import { claudeLine, transcriptPath, writeLines } from '../../testing/stand-ins/usage-stores.ts';
import { until } from '../../testing/until.ts';
import { applySetup, planSetup } from './files.ts';
import { sessionOf } from './runs.ts';
import { beginUsage } from './watch/sync.ts';

interface Settings {
  readonly hooks: Readonly<Record<string, readonly { hooks: readonly { command: string }[] }[]>>;
}

test('the hooks from setup, run as Claude Code runs them, start a session, report usage and end it [companion.setup.claude-hooks-session] [companion.setup.claude-hooks-telemetry]', async () => {
  const t = await testApp();
  const { url: origin } = await t.serve();
  const { token } = await t.developer('ana', 'claude-code');
  const m = testMachine();
  const { path: root } = temporaryRepository();
  applySetup(planSetup({ env: m.env, root, origin, hooks: 'http', clients: ['claude-code'], now: 1 }));
  beginUsage(m.env, origin, Date.now() - 60_000);
  const { hooks } = JSON.parse(readFileSync(join(root, '.claude/settings.json'), 'utf8')) as Settings;
  const transcript_path = writeLines(transcriptPath(m.home), [claudeLine('m1', 7)]);
  const fire = async (event: string) => {
    const command = hooks[event]?.[0]?.hooks[0]?.command ?? '';
    const child = spawn('sh', ['-c', command], { cwd: root, env: { ...m.env, COVIBE_MCP_TOKEN: token }, stdio: ['pipe', 'ignore', 'inherit'] });
    child.stdin.end(JSON.stringify({ hook_event_name: event, session_id: 'run-1', cwd: root, source: 'startup', transcript_path }));
    expect(await once(child, 'close')).toEqual([0, null]);
  };
  const ends = async () => (await t.app.store.reader.selectFrom('agent_sessions').select('ended_at').execute()).map((each) => each.ended_at);

  await fire('SessionStart');
  expect(await ends()).toEqual([null]);
  // Both the hook and the watcher link the transcript to its session, so it does not matter which of them reads it first.
  const [session] = await t.app.store.reader.selectFrom('agent_sessions').select('id').execute();
  expect(sessionOf(m.env, transcript_path)).toBe(session?.id);
  await fire('Stop');
  // A separate process reports the counters, because the agent does not wait for them.
  await until(async () => {
    const spans = await t.app.store.reader.selectFrom('agent_spans').select(['output_tokens']).execute();
    expect(spans).toEqual([{ output_tokens: 7 }]);
  });
  await fire('SessionEnd');
  expect(await ends()).toEqual([expect.any(Number)]);
});
