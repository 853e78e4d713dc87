import { expect, test } from 'vitest';
import { testApp } from '../../../testing/app.ts';
import { viewerOf } from '../../core/identity/index.ts';
import { recentNotes } from './index.ts';

const DAY = 86_400_000;

test('a note is a decision or a blocker, and nothing else [note.surface.kinds]', async () => {
  const { app, developer, events, tool } = await testApp();
  const ana = await developer('ana');
  for (const kind of ['decision', 'blocker']) {
    const { body } = await tool('covibe_note', { kind, title: `A ${kind}`, body: 'Because.' }, ana);
    expect(body).toMatchObject({ status: 'ok', data: { kind, note_id: expect.stringMatching(/^note_/) } });
    const [event] = await events({ category: 'work', kind: `${kind}.recorded` });
    expect(event).toMatchObject({ actor: ana.principal.actor, payload: { title: `A ${kind}`, body: 'Because.' } });
  }
  for (const input of [{ title: 'x' }, { kind: 'risk', title: 'x' }]) {
    expect((await tool('covibe_note', input, ana)).body).toMatchObject({ status: 'error', data: { code: 'INVALID_INPUT', field: 'kind' } });
  }
  const schema = app.registry.tool('covibe_note')?.inputSchema as { required: string[]; properties: { kind: { enum: string[] } } };
  expect(schema.required).toContain('kind');
  expect(schema.properties.kind.enum).toEqual(['decision', 'blocker']);
});

test("a note attaches only to the caller's own work and sessions; ids of others get the same refusal as missing ids [note.attach.owner-only]", async () => {
  const { app, clock, developer, events, tool } = await testApp();
  const [ana, ben] = [await developer('ana'), await developer('ben')];
  const made = async (name: string, input: object) => (await tool(name, input, ana)).reply.data as Record<string, string>;
  const { session_id } = await made('covibe_session', { operation: 'start' });
  const { workstream_id } = await made('covibe_workstream', { operation: 'plan', title: 'Billing export' });
  const { task_id } = await made('covibe_task', { operation: 'plan', title: 'Retry failed uploads', task_type: 'bug' });
  const note = (attached: object, by: typeof ana) => tool('covibe_note', { kind: 'blocker', title: 'Stuck', ...attached }, by);

  expect((await note({ task_id, workstream_id, session_id }, ana)).reply.status).toBe('ok');
  const [seen] = await recentNotes(app.store.reader, ana.principal.workspace, await viewerOf(app.store.reader, ben.principal), clock.now() - DAY, 10);
  expect(seen).toMatchObject({ kind: 'blocker', title: 'Stuck', developer: 'ana', task_id, workstream_id });
  expect((await events({ kind: 'blocker.recorded' })).at(-1)?.session).toBe(session_id);

  for (const [field, id, code] of [
    ['task_id', task_id, 'TASK_NOT_FOUND'],
    ['workstream_id', workstream_id, 'WORKSTREAM_NOT_FOUND'],
    ['session_id', session_id, 'SESSION_NOT_FOUND'],
  ] as const) {
    const foreign = await note({ [field]: id }, ben);
    expect(foreign.body).toMatchObject({ status: 'error', data: { code, field } });
    const unknown = await note({ [field]: 'unknown' }, ben);
    expect(JSON.stringify(foreign.body)).toBe(JSON.stringify(unknown.body).replaceAll('unknown', id as string));
  }
  expect(await recentNotes(app.store.reader, ana.principal.workspace, await viewerOf(app.store.reader, ben.principal), 0, 10)).toHaveLength(1);
  expect(await events({ kind: 'blocker.recorded' })).toHaveLength(1);
});

test('notes since a given time are listed newest first, and do not name private developers', async () => {
  const { app, clock, developer, done, tool } = await testApp();
  const [ana, ben] = [await developer('ana'), await developer('ben')];
  for (const title of ['first', 'second', 'third']) {
    await tool('covibe_note', { kind: 'decision', title }, ana);
    clock.advance(DAY);
  }
  await done('developers.set_visibility', { developer: 'ana', visibility: 'private' });
  const notes = await recentNotes(app.store.reader, ana.principal.workspace, await viewerOf(app.store.reader, ben.principal), clock.now() - 2 * DAY, 1);
  expect(notes).toMatchObject([{ title: 'third', developer: '@private', body: null, task_id: null, workstream_id: null }]);
  const own = await recentNotes(app.store.reader, ana.principal.workspace, await viewerOf(app.store.reader, ana.principal), clock.now() - 2 * DAY, 10);
  expect(own.map(({ title, developer: name }) => [title, name])).toEqual([
    ['third', 'ana'],
    ['second', 'ana'],
  ]);
});

test('the journal stores the details of the largest note, shortened and marked as cut', async () => {
  const { developer, events, tool } = await testApp();
  const ana = await developer('ana');
  const worst = (length: number) => '\u0001'.repeat(length);
  expect((await tool('covibe_note', { kind: 'decision', title: '"'.repeat(300), body: worst(8_000) }, ana)).reply.status).toBe('ok');
  const [event] = await events({ kind: 'decision.recorded' });
  expect(event?.payload).toMatchObject({ title: '"'.repeat(300), body: expect.stringMatching(/^\u0001+…$/) });
  expect((await tool('covibe_note', { kind: 'decision', title: 'x', body: 'b'.repeat(8_001) }, ana)).body).toMatchObject({ data: { field: 'body' } });
});
