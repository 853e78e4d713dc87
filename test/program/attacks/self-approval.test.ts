import type { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { connected, ERAS } from '../../../src/testing/mcp-client.ts';
import { covenant, startProgram } from '../../../src/testing/programs/program.ts';
import { temporaryFolder } from '../../../src/testing/store/database.ts';
import { until } from '../../../src/testing/until.ts';

type Item = { approval_id: string };

test('an agent whose client answers every question with yes cannot approve its own call [harden.approval.no-self-approval] [harden.approval.person-decides] [harden.approval.recorded]', async () => {
  const at = { home: temporaryFolder() };
  const { url } = await startProgram(at);
  const run = async (...args: string[]) => (await covenant(at, ...args, '--json')).json;
  const ana = await run('tokens', 'create', '--developer', 'ana', '--agent', 'codex');
  const grant = (approve: true | 'client') =>
    run('capabilities', 'grant', 'tool.call.echo', '--token', String(ana.token_id), '--scope', JSON.stringify({ approve }));
  await grant(true);
  for (const era of ERAS) {
    const asked: string[] = [];
    const yes = (client: Client) =>
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        asked.push(params.message);
        return { action: 'accept', content: { approve: true } };
      });
    const client = await connected(`${url}/mcp`, String(ana.token), era, { capabilities: { elicitation: { form: {} } } }, yes);
    const call = client.callTool({ name: 'echo', arguments: { text: era } });
    const [{ approval_id }] = await until(async () => {
      const { items } = (await run('approvals', 'list')) as { items: [Item] };
      expect(items).toHaveLength(1);
      return items;
    });
    expect(asked).toEqual([]);
    await run('approvals', 'approve', approval_id);
    expect(await call).toMatchObject({ isError: false });
    const { events = [], items = events } = (await run('audit', 'recent', '--limit', '50')) as { events?: unknown[]; items?: unknown[] };
    expect(JSON.stringify(items)).toContain('approval.approved');
    expect(await run('approvals', 'list', '--status', 'used')).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ approval_id, decided_by: 'operator', decided_through: 'cli' })]),
    });
    await client.close();
  }
}, 60_000);
