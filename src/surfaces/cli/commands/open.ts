import { call, itemEndingIn, requireServer } from '../call.ts';
import { type CliCommand, CliError, given, type Invocation } from '../command.ts';

export const openCommand: CliCommand = {
  name: 'open',
  summary: 'Print a sign-in link for the dashboard.',
  description: 'The link works once, within 10 minutes.',
  arguments: [
    {
      name: 'ID',
      description: 'The id of a task, workflow, event or agent, or the last characters of the id. The link then opens the page of that object.',
      optional: true,
    },
  ],
  options: { developer: { value: 'NAME', description: 'The developer who signs in.', default: 'the first developer' } },
  examples: ['open', 'open 4KQ2ZP'],
  async run(invocation) {
    const base = await requireServer(invocation);
    const [id] = invocation.positionals;
    const to = id === undefined ? '' : `?to=${encodeURIComponent(await pageOf(invocation, id))}`;
    const link = await call(invocation, 'signin.link', given(invocation, 'developer'));
    const url = `${base}${link.path}${to}`;
    return { json: { kind: 'signin_link', url, developer: link.developer, expires_at: link.expires_at }, text: url };
  },
};

/** Finds the item whose id ends in this text. The search also finds matches in titles, which are ignored. */
async function pageOf(invocation: Invocation, text: string): Promise<string> {
  const { items } = await call(invocation, 'lookup.find', { text, limit: 10 });
  const { path } = itemEndingIn(items, ({ id }) => id.toLowerCase(), text.replace(/^#/, '').toLowerCase(), {
    none: new CliError('NOT_FOUND', `No id ends in ${JSON.stringify(text)}.`, 'Check the id, or search on the dashboard: covenant open'),
    several(fitting) {
      const named = fitting.map(({ kind, id }) => `${kind} ${id}`).join(', ');
      return new CliError('AMBIGUOUS', `Several ids end in ${JSON.stringify(text)}: ${named}.`, 'Give a longer part of the id.');
    },
  });
  return path;
}
