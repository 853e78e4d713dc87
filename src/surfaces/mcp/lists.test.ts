import { expect, test } from 'vitest';
import { instanceApp } from '../../testing/scenes/instances.ts';
import { createLists } from './lists.ts';

const BY_TYPE = ['create_issues', 'request_review', 'send_feedback'];

test("lists all tools except those that the agent's type may never call, and refuses exactly these tools [use.mcp.list-callable]", async () => {
  const t = await instanceApp();
  const coding = await t.coding();
  const review = await t.review((await t.coding({ issue: 8 })).id);
  const planning = await t.coding({ type: 'planning' });
  const lists = createLists(t.app);
  const listed = async (id: string) => {
    const { principal } = await t.as(id);
    const toolsets = new Set(['review', 'team'] as const);
    const { tools } = await lists.tools({ principal, toolsets, repository: undefined, place: undefined, isCurrent: async () => true });
    return tools.map(({ name }) => name);
  };
  for (const [{ id }, own] of [
    [coding, 'request_review'],
    [review, 'send_feedback'],
    [planning, 'create_issues'],
  ] as const) {
    const names = await listed(id);
    expect([id, names.filter((name) => BY_TYPE.includes(name))]).toEqual([id, [own]]);
    expect(names).toEqual(expect.arrayContaining(['create_pull_request', 'covibe_task']));
    const args = { request_review: {}, send_feedback: { feedback: 'x', feedback_type: 'suggestions' }, create_issues: { issues: [{ title: 'a', body: 'b' }] } };
    for (const [name, input] of Object.entries(args).filter(([tool]) => tool !== own)) {
      expect(await t.refused(name, input, id)).toMatchObject({ code: 'WRONG_AGENT_TYPE' });
    }
  }
});
