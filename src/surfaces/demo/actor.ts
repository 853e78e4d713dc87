import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { VERSION } from '../../version.ts';

export type DemoAnswer = Record<string, unknown>;

/** One agent of the demo: a client of the server as any other, by MCP over HTTP and with a token of its own. */
export class Actor {
  /** As people know it: `codex@mira`. */
  readonly name: string;
  readonly token: string;
  /** Once it has opened one. */
  session: string | undefined;
  readonly #client: Promise<Client>;

  constructor(name: string, url: string, token: string) {
    this.name = name;
    this.token = token;
    this.#client = connected(name, url, token);
    // Whoever calls next is told.
    this.#client.catch(() => {});
  }

  /** What the server answered, refusals included. */
  async ask(tool: string, args: object): Promise<DemoAnswer> {
    const { structuredContent } = await (await this.#client).callTool({ name: tool, arguments: { ...args } }, { timeout: CALL_LIMIT_MS });
    return (structuredContent ?? {}) as DemoAnswer;
  }

  /** What the server answered to a call that has to succeed. */
  async call(tool: string, args: object): Promise<DemoAnswer> {
    const { structuredContent, isError, content } = await (await this.#client).callTool({ name: tool, arguments: { ...args } }, { timeout: CALL_LIMIT_MS });
    if (isError) throw new Error(`${this.name} ${tool}: ${JSON.stringify(structuredContent ?? content)}`);
    const answer = (structuredContent ?? {}) as DemoAnswer;
    // The team's tools wrap their answers, the others do not.
    return (answer.data as DemoAnswer | undefined) ?? answer;
  }

  async leave(): Promise<void> {
    await (await this.#client).close();
  }
}

/** A person who has to approve a call may take their time. */
const CALL_LIMIT_MS = 10 * 60_000;

async function connected(name: string, url: string, token: string): Promise<Client> {
  const client = new Client({ name: `covenant-demo ${name}`, version: VERSION });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp/all`), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  return client;
}
