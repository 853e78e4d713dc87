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

  /** What the server answered, refusals included. `tool`: its name, and after a space the operation where it has several. */
  async ask(tool: string, args: object): Promise<DemoAnswer> {
    return ((await this.#called(tool, args)).structuredContent ?? {}) as DemoAnswer;
  }

  /** What the server answered to a call that has to succeed. */
  async call(tool: string, args: object): Promise<DemoAnswer> {
    const { structuredContent, isError, content } = await this.#called(tool, args);
    if (isError) throw new Error(`${this.name} ${tool}: ${JSON.stringify(structuredContent ?? content)}`);
    const answer = (structuredContent ?? {}) as DemoAnswer;
    // The team's tools wrap their answers, the others do not.
    return (answer.data as DemoAnswer | undefined) ?? answer;
  }

  async #called(tool: string, args: object) {
    const [name = '', operation] = tool.split(' ');
    return await (await this.#client).callTool({ name, arguments: { ...(operation && { operation }), ...args } }, { timeout: CALL_LIMIT_MS });
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

/** What every story has: the people's hand on the server, the cast, the repository, and whom to tell of each step. */
export interface Stage {
  readonly url: string;
  readonly folder: string;
  readonly repository: string;
  readonly cast: Readonly<Record<'claude' | 'codex' | 'cursor' | 'gemini', Actor>>;
  /** As the operator, in the workspace of the demo. */
  action(name: string, input?: Record<string, unknown>): Promise<DemoAnswer>;
  /** A step of the demo is done. */
  done(what: string): void;
  /** Aborts when somebody has had enough. */
  readonly signal: AbortSignal;
  /** Lets those who look on follow. */
  beat(): Promise<void>;
  /** Again and again until the demo ends: an agent says that it is alive. */
  every(ms: number, work: () => Promise<unknown>): void;
  /** What has to be ended with the demo. */
  readonly atEnd: (() => void)[];
}

export interface Story {
  /** What is still to come, while it is told. */
  readonly title: string;
  /** How many times it says `done`. */
  readonly steps: number;
  tell(stage: Stage): Promise<void>;
}

export const text = (answer: DemoAnswer, field: string): string => String(answer[field]);

export const ARROW = '→';
