import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type Implementation,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Toolset } from '../../kernel/contract.ts';
import { VERSION } from '../../version.ts';
import { instructionsFor } from '../mcp/instructions.ts';
import { toolsetsNamed } from '../mcp/toolsets.ts';
import { type Answer, askCovenant, type Question } from './covenant-server.ts';
import { asToolResult, type TeamEnvelope } from './refusal.ts';
import type { BridgeSettings } from './settings.ts';
import { configuredToken, takeToken } from './token.ts';

export interface BridgeParts {
  readonly settings: BridgeSettings;
  readonly env: NodeJS.ProcessEnv;
  /** For people; must never be given a token. */
  readonly note: (line: string) => void;
}

/** Makes the MCP servers of one process. A client may open more than one: they share the last list of tools. */
export function createBridge({ settings, env, note }: BridgeParts): () => Server {
  let lastList: ListToolsResult | undefined;
  // Without a choice of its own it serves what the token's path does, which for an agent is the team's.
  const served: ReadonlySet<Toolset> = (settings.toolsets && toolsetsNamed(settings.toolsets)) || new Set(['team']);
  const instructions = instructionsFor(served);

  async function ask(server: Server, ctx: ServerContext, question: Pick<Question, 'method' | 'params'>, given?: string): Promise<Answer> {
    const token = given || configuredToken(env);
    const answer = await askCovenant(settings, { ...question, token, meta: metaOf(ctx), client: clientOf(server, ctx), signal: ctx.mcpReq.signal });
    if ('result' in answer) return { result: withoutWireFields(answer.result) };
    const envelope = 'failed' in answer ? answer.failed : answer.refused;
    note(`${question.method}: ${String(envelope.data.code)}: ${envelope.message}`);
    if (token === undefined && 'refused' in answer)
      note('no token: set COVIBE_MCP_TOKEN, or COVIBE_AGENT with a token of that name in ~/.covibe/credentials.json');
    return answer;
  }

  return () => {
    // No `listChanged`: the server's notice of a change does not come this way, and the list's lifetime is short.
    const server = new Server({ name: 'covenant', title: 'Covenant', version: VERSION }, { capabilities: { tools: {} }, instructions });
    server.setRequestHandler('tools/list', async ({ params }, ctx) => {
      const cursor = params?.cursor;
      const answer = await ask(server, ctx, { method: 'tools/list', params: cursor === undefined ? {} : { cursor } });
      if ('result' in answer) {
        const list = answer.result as ListToolsResult;
        if (cursor === undefined) lastList = list;
        return list;
      }
      // Clients drop a server whose list fails. A call then says what is wrong; the lifetime makes the client ask again.
      if ('failed' in answer && lastList && cursor === undefined) return { ...lastList, ttlMs: 0 };
      throw asProtocolError('failed' in answer ? answer.failed : answer.refused);
    });
    server.setRequestHandler('tools/call', async ({ params }, ctx) => {
      const { given, rest } = takeToken(params.arguments ?? {});
      const answer = await ask(server, ctx, { method: 'tools/call', params: { name: params.name, arguments: rest } }, given);
      if ('result' in answer) return answer.result as CallToolResult;
      return asToolResult('failed' in answer ? answer.failed : answer.refused);
    });
    return server;
  };
}

/** What belongs to the exchange with the server; the SDK writes this client's own. */
function withoutWireFields({ resultType: _, ...result }: Record<string, unknown>): Record<string, unknown> {
  return result;
}

/** Ids by which the client's logs can be joined to the journal. Progress is not carried, so it is not asked for. */
function metaOf(ctx: ServerContext): Record<string, unknown> {
  const { progressToken: _, ...meta } = ctx.mcpReq._meta ?? {};
  return meta;
}

/** In the envelope of every request since 2026-07-28, in the handshake before. */
function clientOf(server: Server, ctx: ServerContext): Implementation | undefined {
  const envelope = ctx.mcpReq.envelope as Record<string, Implementation | undefined> | undefined;
  return envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion();
}

function asProtocolError(envelope: TeamEnvelope): ProtocolError {
  const { message, feedback } = envelope;
  return new ProtocolError(ProtocolErrorCode.InternalError, [message, feedback.required_action].filter(Boolean).join(' '), envelope);
}
