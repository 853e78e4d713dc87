import { expect, test } from 'vitest';
import { covenant, direct, startProgram } from '../../../src/testing/programs/program.ts';
import { temporaryFolder } from '../../../src/testing/store/database.ts';

/** Matches all characters, except line ends, that a terminal interprets or does not show. */
const STEERS = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** This text tries to clear the screen, change the window title, forge a row, and hide and reverse text. */
const HOSTILE = 'x\u001b[2J\u001b]0;owned\u0007\u009b31m\r\n9999  forged\u202E\u200b\u2066';

test("a tool name with terminal escapes affects neither the operator's terminal nor a reader of the log [harden.terminal.output]", async () => {
  const at = { home: temporaryFolder(), env: { MCP_LOG_LEVEL: 'debug' } };
  const server = await startProgram(at);
  const { json } = await covenant(at, 'tokens', 'create', '--developer', 'ana', '--agent', 'codex', '--json');
  await direct(server.url, String(json.token), HOSTILE);
  await fetch(`${server.url}/${encodeURIComponent(HOSTILE)}`);

  const recent = await covenant(at, 'audit', 'recent');
  expect(recent.stdout).toContain('x\\u001b[2J');
  expect(recent.stdout).not.toMatch(STEERS);
  expect(recent.stdout.split('\n').some((line) => line.startsWith('9999'))).toBe(false);

  const asJson = await covenant(at, 'audit', 'recent', '--json');
  expect(asJson.stdout).not.toMatch(STEERS);
  const items = asJson.json.items as { subject: string | null }[];
  expect(items.some(({ subject }) => subject?.includes(HOSTILE))).toBe(true);

  const refused = await covenant(at, 'tools', 'call', HOSTILE);
  expect(refused.code).toBe(1);
  expect(refused.stderr + refused.stdout).not.toMatch(STEERS);
  expect((await covenant(at, 'audit', 'export')).stdout).not.toMatch(STEERS);
  await server.stop();
  expect(server.log()).not.toMatch(STEERS);
});
