import { expect, test } from 'vitest';
import { workflowApp } from '../src/testing/scenes/workflow.ts';
import { filesRunBy } from '../src/testing/walk.ts';

/** The pipe and the rules of a claim, file by file: a new one here needs a reason. */
const PATH = [
  'src/features/core/capabilities/gate.ts',
  'src/features/core/capabilities/grant.ts',
  'src/features/core/events/journal-quota.ts',
  'src/features/core/identity/authenticate.ts',
  'src/features/core/identity/redact.ts',
  'src/features/core/identity/token.ts',
  'src/features/workflow/agents/index.ts',
  'src/features/workflow/agents/presence.ts',
  'src/features/workflow/steps/claims.ts',
  'src/features/workflow/workflows/index.ts',
  'src/features/workflow/workflows/lifecycle.ts',
  'src/features/workflow/workflows/overlap.ts',
  'src/features/workflow/workflows/store.ts',
  'src/kernel/admission.ts',
  'src/kernel/call.ts',
  'src/kernel/context.ts',
  'src/kernel/deadline.ts',
  'src/kernel/dispatch.ts',
  'src/kernel/ids.ts',
  'src/kernel/input.ts',
  'src/kernel/log.ts',
  'src/kernel/network.ts',
  'src/kernel/registry.ts',
  'src/kernel/reply.ts',
  'src/kernel/trace.ts',
  'src/kernel/workspace.ts',
];

test('a claim runs through these files of the pipe and of the workflow, and no others', async () => {
  const app = await workflowApp();
  const { url } = await app.serve();
  const { ids } = await app.planned(['one', 'two', 'three']);
  const agent_id = await app.agent();
  const claim = async (task_id: string | undefined) => {
    const response = await fetch(`${url}/api/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${app.ana.token}` },
      body: JSON.stringify({ tool: 'task_claim', arguments: { task_id, agent_id } }),
    });
    return await response.json();
  };
  for (const name of ['one', 'two']) expect(await claim(ids[name])).toMatchObject({ success: true });
  const files = await filesRunBy(() => claim(ids.three));
  expect(files.filter((path) => /^src\/(kernel|features\/(core|workflow)|main)/.test(path) && !PATH.includes(path))).toEqual([]);
  // With the surface, the overlap index and the storage.
  expect(files.length).toBeLessThanOrEqual(58);
});
