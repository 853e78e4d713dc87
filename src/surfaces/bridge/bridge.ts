import { isDeepStrictEqual } from 'node:util';
import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type Implementation,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Toolset } from '../../kernel/contract.ts';
import { placeOf } from '../../machine/git/place.ts';
import { VERSION } from '../../version.ts';
import { configuredToken } from '../../wire/credentials.ts';
import { noteRepo } from '../companion/state.ts';
import { GUIDE, readGuide } from '../mcp/guide.ts';
import { instructionsFor } from '../mcp/instructions.ts';
import { toolsetsNamed } from '../mcp/toolsets.ts';
import { askCovenant, type BridgeAnswer, type BridgeRequest } from './covenant-server.ts';
import { lastLists } from './last-list.ts';
import { createReconnectPoller } from './reconnect-poller.ts';
import { asToolResult, type TeamEnvelope } from './refusal.ts';
import type { BridgeSettings } from './settings.ts';

export interface BridgeParts {
  readonly settings: BridgeSettings;
  readonly env: NodeJS.ProcessEnv;
  /** Prints a line for people. The line must never contain a token. */
  readonly note: (line: string) => void;
}

/** Returns a function that creates an MCP server for each connection. These servers forward tool lists and tool calls, but neither progress nor questions. */
export function createBridge({ settings, env, note }: BridgeParts): () => Server {
  const lastFor = lastLists(settings, env);
  // Without COVIBE_TOOLSETS, the server chooses the toolsets from the token. The instructions then describe the toolset `team`, which agents usually get.
  const served: ReadonlySet<Toolset> = (settings.toolsets && toolsetsNamed(settings.toolsets)) || new Set(['team']);
  const instructions = instructionsFor(served);

  function noteAnswer(method: string, answer: BridgeAnswer, token: string | undefined): void {
    if ('result' in answer) return;
    const envelope = envelopeOf(answer);
    note(`${method}: ${String(envelope.data.code)}: ${envelope.message}`);
    if (token === undefined && 'refused' in answer)
      note('no token is configured. Set COVIBE_MCP_TOKEN, or set COVIBE_AGENT to an agent with a token in ~/.covibe/credentials.json');
  }

  const tokenNow = () => configuredToken(env, settings.origin);

  return () => {
    const server = new Server(
      { name: 'covenant', title: 'Covenant', version: VERSION },
      { capabilities: { tools: { listChanged: true }, resources: {} }, instructions },
    );

    /** The tool list that the client received last. Undefined if the client received an error. */
    let given: ListToolsResult | undefined;
    const poller = createReconnectPoller(async (signal) => {
      const token = tokenNow();
      const answer = await askCovenant(settings, { ...LIST, token, meta: {}, client: server.getClientVersion(), signal });
      if ('result' in answer) lastFor(token).keep(answer.result as ListToolsResult);
      return !('failed' in answer);
    });
    const announceChange = () => {
      const now = lastFor(tokenNow()).recall();
      if (now && !isDeepStrictEqual(now.tools, given?.tools)) server.sendToolListChanged().catch(() => {});
    };
    server.onclose = () => poller.end();

    async function ask(ctx: ServerContext, question: Pick<BridgeRequest, 'method' | 'params'>, token: string | undefined): Promise<BridgeAnswer> {
      const answer = await askCovenant(settings, { ...question, token, meta: metaOf(ctx), client: clientOf(server, ctx), signal: ctx.mcpReq.signal });
      noteAnswer(question.method, answer, token);
      if (!('failed' in answer)) poller.wake();
      return 'result' in answer ? { result: withoutWireFields(answer.result) } : answer;
    }

    server.setRequestHandler('tools/list', async ({ params }, ctx) => {
      const cursor = params?.cursor;
      const token = tokenNow();
      const asked = ask(ctx, cursor === undefined ? LIST : { ...LIST, params: { cursor } }, token);
      const last = lastFor(token);
      const answer = await asked;
      if ('result' in answer) {
        const list = answer.result as ListToolsResult;
        if (cursor === undefined) {
          given = list;
          last.keep(list);
        }
        return list;
      }
      if ('failed' in answer && cursor === undefined) {
        given = last.recall();
        poller.begin(announceChange);
        // Returns the stored list, because clients drop a server whose tool list fails. The next call reports the problem, and ttlMs 0 makes the client ask
        // for the list again.
        if (given) return { ...given, ttlMs: 0 };
      }
      throw asProtocolError(envelopeOf(answer));
    });
    server.setRequestHandler('tools/call', async ({ params }, ctx) => {
      noteActivity(env);
      const { given: token, rest } = takeToken(params.arguments ?? {});
      const answer = await ask(ctx, { method: 'tools/call', params: { name: params.name, arguments: rest } }, token || tokenNow());
      return 'result' in answer ? (answer.result as CallToolResult) : asToolResult(envelopeOf(answer));
    });
    // The guide is part of this package, so that agents can read it even while the server is unreachable.
    server.setRequestHandler('resources/list', async () => ({ resources: [GUIDE] }));
    server.setRequestHandler('resources/templates/list', async () => ({ resourceTemplates: [] }));
    server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
      if (uri !== GUIDE.uri) throw new ResourceNotFoundError(uri);
      return await readGuide();
    });
    return server;
  };
}

const LIST = { method: 'tools/list', params: {} } as const;

/** Records that an agent works in this repository, so that the companion includes the repository in its reports. */
function noteActivity(env: NodeJS.ProcessEnv): void {
  const place = placeOf(process.cwd());
  try {
    if (place) noteRepo(env, place, Date.now());
  } catch {
    // If the home is read-only, the call must still succeed.
  }
}

const envelopeOf = (answer: Exclude<BridgeAnswer, { result: unknown }>): TeamEnvelope => ('failed' in answer ? answer.failed : answer.refused);

/** Removes the field `resultType` of the server's response, because the SDK sets it again in the format of this client. */
function withoutWireFields({ resultType: _, ...result }: Record<string, unknown>): Record<string, unknown> {
  return result;
}

/** The client's `_meta` contains ids that connect its logs to the journal. The progress token is left out, because the bridge cannot forward progress. */
function metaOf(ctx: ServerContext): Record<string, unknown> {
  const { progressToken: _, ...meta } = ctx.mcpReq._meta ?? {};
  return meta;
}

/** Returns the name and version of the client. Since MCP revision 2026-07-28, every request contains them. In older revisions, only the handshake does. */
function clientOf(server: Server, ctx: ServerContext): Implementation | undefined {
  const envelope = ctx.mcpReq.envelope as Record<string, Implementation | undefined> | undefined;
  return envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion();
}

function asProtocolError(envelope: TeamEnvelope): ProtocolError {
  const { message, feedback } = envelope;
  return new ProtocolError(ProtocolErrorCode.InternalError, [message, feedback.required_action].filter(Boolean).join(' '), envelope);
}

/** Separates a `token` that the agent passed among the arguments from the arguments of the tool. */
export function takeToken(args: Record<string, unknown>): { given: string | undefined; rest: Record<string, unknown> } {
  // A `token` that is not a string stays among the arguments, and the server refuses it as an unknown field.
  if (typeof args.token !== 'string') return { given: undefined, rest: args };
  const { token, ...rest } = args;
  return { given: token as string, rest };
}
