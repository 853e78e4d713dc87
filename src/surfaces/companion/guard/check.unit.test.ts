import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { committerIn } from './check.ts';

const ORIGIN = 'http://127.0.0.1:3001';

function homeWith(credentials: object): NodeJS.ProcessEnv {
  const home = temporaryFolder();
  mkdirSync(join(home, '.covibe'));
  writeFileSync(join(home, '.covibe/credentials.json'), JSON.stringify(credentials));
  return { HOME: home };
}

it('recognizes an agent by the variables that its program sets for commands', () => {
  const env = homeWith({ tokens: {} });
  const agentIn = (marks: NodeJS.ProcessEnv) => committerIn({ ...env, ...marks }, ORIGIN);
  expect(agentIn({ CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'run-1' })).toMatchObject({ agent: 'claude-code', client_session: 'run-1' });
  expect(agentIn({ CODEX_THREAD_ID: 'run-2', CODEX_SESSION_ID: 'run-2' })).toMatchObject({ agent: 'codex', client_session: 'run-2' });
  expect(agentIn({ GEMINI_CLI: '1' }).agent).toBe('gemini');
  expect(agentIn({ CURSOR_AGENT: '1' }).agent).toBe('cursor');
  expect(agentIn({ OPENCODE: '1' }).agent).toBe('opencode');
  expect(agentIn({ COVIBE_AGENT: 'reviewer', CLAUDECODE: '1' }).agent).toBe('reviewer');
  // People have these variables in their own terminals.
  expect(agentIn({ CODEX_HOME: '/x', CURSOR_TRACE_ID: 'y', CLAUDE_PROJECT_DIR: '/z' }).agent).toBeUndefined();
});

it('an agent asks with its own token. People, and agents without a token, ask with any token of the developer. Tokens of other servers are never used', () => {
  const env = homeWith({ tokens: { codex: 'cv_codex', gemini: 'cv_gemini' } });
  const run = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'run-1' };
  expect(committerIn({ ...env, GEMINI_CLI: '1' }, ORIGIN)).toMatchObject({ token: 'cv_gemini', asPerson: false });
  expect(committerIn(env, ORIGIN)).toMatchObject({ token: 'cv_codex', asPerson: true });
  // The id of the run is not sent, because the run belongs to another agent than the token.
  expect(committerIn({ ...env, ...run }, ORIGIN)).toEqual({ agent: 'claude-code', token: 'cv_codex', asPerson: true, client_session: undefined });
  expect(committerIn({ ...env, COVIBE_MCP_TOKEN: 'cv_environment', ...run }, ORIGIN)).toMatchObject({
    token: 'cv_environment',
    asPerson: false,
    client_session: 'run-1',
  });
  const elsewhere = homeWith({ origin: 'https://elsewhere.example', tokens: { codex: 'cv_codex' } });
  expect(committerIn({ ...elsewhere, CODEX_THREAD_ID: 'x' }, ORIGIN)).toMatchObject({ token: undefined, asPerson: false });
});
