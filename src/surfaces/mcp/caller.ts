import { type AuthInfo, CLIENT_INFO_META_KEY, type Implementation, type ServerContext } from '@modelcontextprotocol/server';
import type { CallerPlace, Principal } from '../../kernel/call.ts';
import type { Toolset } from '../../kernel/contract.ts';

/** The sender of a request, and the toolsets of its path. */
export interface McpCaller {
  readonly principal: Principal;
  readonly toolsets: ReadonlySet<Toolset>;
  readonly repository: string | undefined;
  readonly place: CallerPlace | undefined;
  /** Returns whether the token is still valid. Sessions and streams last longer than a request, so they must check the token again. */
  readonly isCurrent: () => Promise<boolean>;
}

/** Converts the caller to the format that the SDK passes on unchanged. The token is left out, because it is no longer needed. */
export function asAuthInfo(caller: McpCaller): AuthInfo {
  return { token: '', clientId: caller.principal.tokenId, scopes: [], extra: { caller } };
}

export function callerFrom(authInfo: AuthInfo | undefined): McpCaller {
  const caller = authInfo?.extra?.caller as McpCaller | undefined;
  if (!caller) throw new Error('an MCP request reached the protocol without a principal');
  return caller;
}

/** Returns the identity to which a session is bound: token, workspace and toolsets. */
export function bindingOf({ principal, toolsets }: McpCaller): string {
  return JSON.stringify([principal.tokenId, principal.workspace, [...toolsets].sort()]);
}

/** The ids that connect the logs of the client to the journal. The length of each value is limited, because the client chooses it. */
const CORRELATION_KEYS = ['claudecode/toolUseId', 'threadId', 'sessionId', 'traceparent'] as const;

export function correlationOf(ctx: ServerContext, session: Implementation | undefined): Record<string, string> | undefined {
  const found: Record<string, string> = {};
  const client = (ctx.mcpReq.envelope as Record<string, Implementation | undefined> | undefined)?.[CLIENT_INFO_META_KEY] ?? session;
  if (client) found.client = `${client.name} ${client.version}`.slice(0, 100);
  for (const key of CORRELATION_KEYS) {
    const value = ctx.mcpReq._meta?.[key];
    if (typeof value === 'string') found[key] = value.slice(0, 200);
  }
  return Object.keys(found).length > 0 ? found : undefined;
}
