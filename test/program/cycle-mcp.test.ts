import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { bridged, connected } from '../../src/testing/mcp-client.ts';
import { covenant, ROOT, startProgram } from '../../src/testing/programs/program.ts';
import { brokerFile, brokerRepository, PSKS, readBroker } from '../../src/testing/scenes/cycle.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';

/** This is the test of `npm run smoke:mcp`, with a real client and both transports that agents use. */

const TOOLS = ['cycle.archive', 'cycle.complete', 'cycle.start', 'cycle.status', 'handoff.read', 'handoff.write', 'lock.acquire', 'session.open'];

/** Calls a tool and checks that the structured content and the text of the answer contain the same envelope. */
async function call(client: Client, name: string, args: Record<string, unknown>) {
  const { structuredContent, content, isError } = await client.callTool({ name, arguments: args });
  expect(JSON.parse((content as { text: string }[])[0]?.text ?? '')).toEqual(structuredContent);
  return { envelope: structuredContent as { ok: boolean; data: Record<string, string>; error: Record<string, unknown> }, isError: isError === true };
}

test.each(['over HTTP', 'through covibe-mcp'])(
  'two agents take a feature through the whole cycle %s [cycle.smoke.scripts] [cycle.surface.tools]',
  async (way) => {
    const home = temporaryFolder();
    const repository = brokerRepository();
    const { url } = await startProgram({ home });
    const agent = async (name: string) => {
      const { token } = (await covenant({ home }, 'tokens', 'create', '--developer', name, '--json')).json;
      if (way === 'over HTTP') return await connected(`${url}/mcp/cycle`, String(token));
      const env = { COVIBE_BASE_URL: url, COVIBE_MCP_TOKEN: String(token), COVIBE_TOOLSETS: 'cycle' };
      return await bridged({ command: process.execPath, args: [join(ROOT, 'dist/bin/covibe-mcp.js')], cwd: repository }, env);
    };
    const clients = { gemini: await agent('ana'), codex: await agent('ben') };
    type Role = keyof typeof clients;
    // Over plain HTTP, a call must contain the path of its repository. With the bridge it need not, because the bridge reports its folder.
    const at = way === 'over HTTP' ? { repository_path: repository } : {};
    const ok = async (role: Role, name: string, args: Record<string, unknown> = {}) => {
      const { envelope, isError } = await call(clients[role], name, { ...at, ...args });
      expect({ name, isError, ...envelope }).toEqual({ name, isError: false, ok: true, data: expect.any(Object) });
      return envelope.data;
    };
    expect((await clients.codex.listTools()).tools.map(({ name }) => name).sort()).toEqual(TOOLS);

    const open = async (role: Role) => (await ok(role, 'session.open', { role, psk: PSKS[role] })).session_token;
    const sessions = { gemini: await open('gemini'), codex: await open('codex') };
    const { cycle_id } = await ok('gemini', 'cycle.start', { feature: 'checkout' });
    const early = await call(clients.codex, 'lock.acquire', { ...at, session_token: sessions.codex });
    expect(early).toEqual({
      isError: true,
      envelope: {
        ok: false,
        error: {
          code: 'LOCK_DENIED',
          message: 'role is not active for the current phase',
          details: { activeRole: 'gemini', requestedRole: 'codex', next: expect.stringContaining('turn of gemini') },
        },
      },
    });

    const lock = async (role: Role) => ({
      session_token: sessions[role],
      lock_token: (await ok(role, 'lock.acquire', { session_token: sessions[role] })).lock_token,
    });
    const handOver = async (producer: Role, consumer: Role) => {
      const lists = { files_modified: ['a.ts'], endpoints: [{ method: 'GET', path: '/cart' }], data_shapes: [], assumptions: [], todos: [], notes: [] };
      const payload = { cycle_id, feature: 'checkout', producer, consumer, ...lists };
      await ok(producer, 'handoff.write', { target: consumer, payload, ...(await lock(producer)) });
      expect(await ok(consumer, 'handoff.read', { target: consumer })).toEqual(payload);
    };
    await handOver('gemini', 'codex');
    await handOver('codex', 'gemini');
    const held = await lock('gemini');
    expect(await ok('gemini', 'cycle.complete', held)).toMatchObject({ phase: 'complete' });
    expect(await ok('gemini', 'cycle.archive', held)).toMatchObject({ cycle_id });
    expect(existsSync(brokerFile(repository, `archive/${cycle_id}/manifest.json`))).toBe(true);
    expect(readBroker(repository, 'state.json')).toMatchObject({ active: false });
  },
);
