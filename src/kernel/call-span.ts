import { hash } from 'node:crypto';
import type { Call, CallRequest } from './call.ts';
import type { Toolset } from './contract.ts';
import type { Aside, CallKind } from './ports.ts';
import type { Reply } from './reply.ts';
import { type Tracer, type TraceSpan, traceContext } from './trace.ts';

/** OpenTelemetry's conventions for MCP, where there is one for it; the rest under our own name. */

const METHODS = { tool: 'tools/call', prompt: 'prompts/get', resource: 'resources/read' } as const;
const ASIDES: Record<Aside, string> = { complete: 'completion/complete', subscribe: 'resources/subscribe' };

/** What was asked for is in its name only once it is known to exist: any text may be sent as the name of a tool. */
export function beginCallSpan(
  tracer: Tracer | undefined,
  noun: CallKind,
  request: CallRequest & { readonly aside?: Aside | undefined },
): TraceSpan | undefined {
  if (!tracer) return undefined;
  const from = request.trace ?? traceContext((key) => request.exchange?.meta[key]);
  return tracer.begin(methodOf(noun, request.aside), 'server', from);
}

interface CallEnd {
  /** Whether there is what was asked for: any text may be sent as its name. */
  readonly known: boolean;
  readonly toolset: Toolset | undefined;
  readonly outcome: string;
  readonly reply: Reply<unknown>;
}

export function recordCallSpan(span: TraceSpan, call: Call, { known, toolset, outcome, reply }: CallEnd): void {
  const { noun, aside, server, surface, requestId, principal } = call;
  const name = known ? call.name : undefined;
  const method = methodOf(noun, aside);
  // The name of a resource is that of its server.
  if (name !== undefined && noun !== 'resource') span.rename(`${method} ${name}`);
  span.say({
    'mcp.method.name': noun === 'action' ? undefined : method,
    'gen_ai.operation.name': noun === 'tool' ? 'execute_tool' : undefined,
    'gen_ai.tool.name': noun === 'tool' ? name : undefined,
    'gen_ai.prompt.name': noun === 'prompt' ? name : undefined,
    'covenant.action': noun === 'action' ? name : undefined,
    'covenant.toolset': toolset,
    'covenant.server': server,
    'covenant.surface': surface,
    'covenant.outcome': outcome,
    'covenant.request.id': requestId,
    'covenant.workspace.hash': hash('sha256', principal.workspace).slice(0, 12),
  });
  if (reply.status === 'error' || outcome === 'denied') span.fail(reply.status === 'ok' ? outcome : reply.code);
  else if (outcome === 'error_result') span.fail('tool_error');
}

const methodOf = (noun: CallKind, aside: Aside | undefined): string => (noun === 'action' ? 'action' : aside ? ASIDES[aside] : METHODS[noun]);
