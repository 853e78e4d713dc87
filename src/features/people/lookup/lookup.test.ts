import { expect, test } from 'vitest';
import type { TestCaller } from '../../../testing/app.ts';
import { type Body, workflowApp } from '../../../testing/scenes/workflow.ts';

/** Ana and Ben have one agent each, Cleo none. */
async function services() {
  const t = await workflowApp();
  const person = (caller: TestCaller, operator = false): TestCaller => ({ ...caller, principal: { ...caller.principal, web: true, operator } });
  const planner = await t.agent(t.ana, { name: 'planner' });
  const worker = await t.agent(t.ben, { name: 'worker' });
  const people = { ana: person(t.ana), ben: person(t.ben), cleo: person(await t.developer('cleo')), admin: person(await t.developer('dora'), true) };
  const send = (args: object): Promise<Body> =>
    t.ok('message_send', { sender_id: planner, recipient_id: worker, message_type: 'notification', body: 'See there.', ...args });
  const find = async (text: string, caller: TestCaller): Promise<Body[]> => (await t.done('lookup.find', { text }, caller)).items as Body[];
  return { ...t, planner, worker, people, send, find };
}

test("only participants and operators find agents' messages by their text", async () => {
  const { people, send, find } = await services();
  const { id } = await send({ subject: 'Merger with Initech' });
  for (const who of [people.ana, people.ben, people.admin])
    expect(await find('initech', who)).toEqual([{ kind: 'message', id, title: 'Merger with Initech', path: `/messages?message=${id}` }]);
  expect(await find('initech', people.cleo)).toEqual([]);
  // Everybody can find that the message exists, but not its subject.
  expect(await find(id, people.cleo)).toEqual([{ kind: 'message', id, title: '', path: `/messages?message=${id}` }]);
});

test('everybody finds messages from people and questions to people', async () => {
  const { people, send, find } = await services();
  const { id } = await send({ recipient_id: 'human', message_type: 'query', subject: 'Drop the legacy table?' });
  expect(await find('legacy table', people.cleo)).toMatchObject([{ kind: 'message', id }]);
});

test('an item is found by its id or the end of its id, however many newer items exist', async () => {
  const { app, people, send, find, operator } = await services();
  const { id } = await send({ subject: 'The first' });
  const { reader } = app.store;
  const first = await reader.selectFrom('messages').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const later = (index: number) => ({ ...first, id: `msg_7ZZZZZZZZZZZZZZZZZZZZ${String(index).padStart(5, '0')}`, subject: `Later ${index}` });
  await app.store.write(operator.principal.workspace, async (tx) => {
    for (let made = 0; made < 10_001; made += 1_000) {
      const rows = Array.from({ length: 1_000 }, (_, index) => later(made + index));
      for (let at = 0; at < rows.length; at += 500)
        await tx.db
          .insertInto('messages')
          .values(rows.slice(at, at + 500))
          .execute();
    }
  });
  expect(await find(id, people.ana)).toMatchObject([{ id }]);
  expect(await find(id.slice(-10), people.ana)).toMatchObject([{ id }]);
  expect(await find('Later 10999', people.ana)).toMatchObject([{ title: 'Later 10999' }]);
});
