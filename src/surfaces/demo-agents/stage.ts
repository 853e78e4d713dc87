import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { VERSION } from '../../version.ts';

export type DemoAnswer = Record<string, unknown>;

/** One agent of the demo: an ordinary client that uses MCP over HTTP with its own token. */
export class Actor {
  /** The name that people see, such as `codex@mira`. */
  readonly name: string;
  readonly token: string;
  /** Set after the session has started. */
  session: string | undefined;
  readonly #client: Promise<Client>;

  constructor(name: string, url: string, token: string) {
    this.name = name;
    this.token = token;
    this.#client = connected(name, url, token);
    // Prevents an unhandled rejection. The next call reports the error.
    this.#client.catch(() => {});
  }

  /** Calls a tool and returns the answer, even if it is a refusal. `tool` is the name of the tool. A space and the operation follow if the tool needs one. */
  async ask(tool: string, args: object): Promise<DemoAnswer> {
    return ((await this.#called(tool, args)).structuredContent ?? {}) as DemoAnswer;
  }

  /** Calls a tool and throws if the call fails. */
  async call(tool: string, args: object): Promise<DemoAnswer> {
    const { structuredContent, isError, content } = await this.#called(tool, args);
    if (isError) throw new Error(`${this.name} ${tool}: ${JSON.stringify(structuredContent ?? content)}`);
    const answer = (structuredContent ?? {}) as DemoAnswer;
    // Team tools wrap their answers in an envelope.
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

/** The time limit of a call. It is long, because some calls wait until a person approves them. */
const CALL_LIMIT_MS = 10 * 60_000;

async function connected(name: string, url: string, token: string): Promise<Client> {
  const client = new Client({ name: `covenant-demo ${name}`, version: VERSION });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp/all`), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  return client;
}

/** Everything a story needs: the operator's actions, the agents, the repository, and a callback for each step. */
export interface Stage {
  readonly url: string;
  readonly folder: string;
  readonly repository: string;
  readonly cast: Readonly<Record<'claude' | 'codex' | 'cursor' | 'gemini', Actor>>;
  /** Calls an action as the operator, in the workspace demo. */
  action(name: string, input?: Record<string, unknown>): Promise<DemoAnswer>;
  /** Reports a finished step. */
  done(what: string): void;
  /** Aborts when the demo is interrupted. */
  readonly signal: AbortSignal;
  /** Pauses, so that a person can follow. */
  beat(): Promise<void>;
  /** Repeats the work until the demo ends. Used for heartbeats. */
  every(ms: number, work: () => Promise<unknown>): void;
  /** Clean-up functions that run at the end of the demo. */
  readonly atEnd: (() => void)[];
}

export interface Story {
  /** Shown as the next step while the story runs. */
  readonly title: string;
  /** How many times the story calls `done`. */
  readonly steps: number;
  tell(stage: Stage): Promise<void>;
}

export const text = (answer: DemoAnswer, field: string): string => String(answer[field]);

export const ARROW = '→';
