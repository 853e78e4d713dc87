import { call, itemEndingIn } from '../call.ts';
import { type CliCommand, CliError, given, type Invocation } from '../command.ts';

export const openCommand: CliCommand = {
  name: 'open',
  summary: 'Print a fresh sign-in link for the dashboard, or for the page of what has this id. It works once.',
  positionals: ['[ID]'],
  options: { developer: { type: 'string' } },
  async run(invocation) {
    const base = await requireServer(invocation);
    const [id] = invocation.positionals;
    const to = id === undefined ? '' : `?to=${encodeURIComponent(await pageOf(invocation, id))}`;
    const link = await call(invocation, 'signin.link', given(invocation, 'developer'));
    const url = `${base}${link.path}${to}`;
    return { json: { kind: 'signin_link', url, developer: link.developer, expires_at: link.expires_at }, text: url };
  },
};

/** By its id or the end of it: where the words of several titles would fit too, an id is what was meant. */
async function pageOf(invocation: Invocation, text: string): Promise<string> {
  const { items } = await call(invocation, 'lookup.find', { text, limit: 10 });
  const { path } = itemEndingIn(items, ({ id }) => id.toLowerCase(), text.replace(/^#/, '').toLowerCase(), {
    none: new CliError(
      'NOT_FOUND',
      `Nothing has the id ${JSON.stringify(text)}, or one that ends so.`,
      'Give more of it, or look on the dashboard: covenant open',
    ),
    several(fitting) {
      const named = fitting.map(({ kind, id }) => `${kind} ${id}`).join(', ');
      return new CliError('AMBIGUOUS', `${JSON.stringify(text)} is the end of several ids: ${named}.`, 'Give more of it.');
    },
  });
  return path;
}

export async function requireServer(invocation: Invocation): Promise<string> {
  const { url } = await invocation.client();
  if (url) return url;
  throw new CliError('NOT_RUNNING', 'No server of this home runs.', 'covenant up');
}
