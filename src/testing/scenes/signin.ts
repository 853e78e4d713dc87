/** The session of a person's browser, or of a script that acts like a browser. */
export interface Session {
  /** The cookie as the server set it, with its attributes. */
  readonly setCookie: string;
  readonly cookie: string;
  readonly proof: string;
  /** The cookie and the proof, which the dashboard sends with every request. */
  readonly headers: { readonly cookie: string; readonly 'x-covenant-proof': string };
  /** The answer of `POST /api/signin`. */
  readonly body: Record<string, unknown>;
  action(name: string, input?: unknown, headers?: Record<string, string>): Promise<{ status: number; body: Record<string, unknown> }>;
  /** Returns the address with a new ticket in its query. The ticket opens the address once. */
  ticketed(address: string): Promise<string>;
}

/** Sends the code of a sign-in link to `POST /api/signin`, and returns the answer even if it is a refusal. */
export const postSignIn = (link: string, headers: Record<string, string> = {}, more: Record<string, unknown> = {}): Promise<Response> => {
  const { origin, pathname } = new URL(link);
  return fetch(`${origin}/api/signin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ code: pathname.split('/').at(-1), ...more }),
  });
};

/** Signs in through a link, as docs/operations.md shows it for scripts. */
export async function signInBy(link: string): Promise<Session> {
  const answer = await postSignIn(link);
  const body = (await answer.json()) as Record<string, unknown>;
  if (answer.status !== 200) throw new Error(`not signed in: ${JSON.stringify(body)}`);
  const setCookie = answer.headers.get('set-cookie') ?? '';
  const cookie = setCookie.split(';')[0] as string;
  const proof = String(body.proof);
  const headers = { cookie, 'x-covenant-proof': proof };
  const { origin } = new URL(link);
  const action: Session['action'] = async (name, input = {}, own = {}) => {
    const response = await fetch(`${origin}/api/actions/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers, ...own },
      body: JSON.stringify(input),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  return {
    setCookie,
    cookie,
    proof,
    headers,
    body,
    action,
    async ticketed(address) {
      const [path] = address.split('?');
      const { body: made } = await action('session.ticket', { path });
      if (typeof made.ticket !== 'string') throw new Error(`no ticket: ${JSON.stringify(made)}`);
      return `${address}${address.includes('?') ? '&' : '?'}ticket=${made.ticket}`;
    },
  };
}
