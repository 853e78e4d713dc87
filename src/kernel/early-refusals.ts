import { nearest } from '../wire/nearest.ts';
import { type Call, onlyToolset } from './call.ts';
import type { Toolset } from './contract.ts';
import type { Log } from './log.ts';
import type { Ports } from './ports.ts';
import type { PublishedTool } from './publish.ts';
import { namespaceOf, type Registry } from './registry.ts';
import { ENVELOPES, type Envelope, type Refused, refused } from './reply.ts';

/** Refusals made before the tool, the action or the workspace of a call is known. */

const speaksCycle = (call: Call): boolean => (onlyToolset(call) ?? namespaceOf(call.name)) === 'cycle';

/**
 * Selects the envelope of a refusal while the tool is not known. Tools get the team envelope, or the cycle envelope if the name
 * or the path belongs to the cycle toolset.
 */
export function fallbackEnvelope(call: Call): Envelope {
  if (call.noun === 'action') return ENVELOPES.admin;
  return speaksCycle(call) ? ENVELOPES.cycle : ENVELOPES.team;
}

/** The cycle contract has its own code for an unknown tool. The refusal may say which path serves a native tool, because that is public. */
export function unknownTool(call: Call, elsewhere: { toolset: Toolset } | undefined): Refused {
  const code = speaksCycle(call) ? 'INVALID_TOOL' : 'UNKNOWN_TOOL';
  const name = JSON.stringify(call.name);
  if (elsewhere && elsewhere.toolset !== 'gateway') {
    return refused('error', code, `The tool ${name} is not served on this path.`, `Connect to /mcp/${elsewhere.toolset} or /mcp/all, then call it there.`);
  }
  return refused(
    'error',
    code,
    `The tool ${name} does not exist.`,
    'List the tools (MCP: tools/list, shell: `covenant tools list`) and call one by its exact name.',
  );
}

const MAYBE_UNKNOWN = new Set(['UNKNOWN_TOOL', 'INVALID_TOOL', 'CAPABILITY_DENIED']);

/**
 * Suggests the most similar tool name that the caller may list. The suggestion does not depend on whether the refused tool
 * exists, so it reveals nothing.
 */
export async function withNearest(
  call: Call,
  reply: Refused,
  { registry, ports, log }: { registry: Registry; ports: Pick<Ports, 'mayList'>; log: Log },
): Promise<Refused> {
  if (call.noun !== 'tool' || !MAYBE_UNKNOWN.has(reply.code) || registry.tool(call.name)) return reply;
  // A failed look-up must replace neither the refusal nor its event.
  const may = await ports.mayList(call.principal).catch((error: unknown) => log.warn('no similar tool was looked up', { tool: call.name, error }));
  if (!may) return reply;
  const all = [...registry.tools(), ...registry.external(call.principal.workspace).tools()];
  const listed = all.filter(({ name, toolset }) => (call.toolsets?.has(toolset) ?? true) && may(name, toolset)).map(({ name }) => name);
  const near = listed.includes(call.name) ? undefined : nearest(call.name, listed);
  return near === undefined ? reply : { ...reply, next: `Did you mean ${near}? If not: ${reply.next}`, data: { ...reply.data, nearest: near } };
}

export function unknownAction(name: string): Refused {
  return refused(
    'error',
    'UNKNOWN_ACTION',
    `The action ${JSON.stringify(name)} does not exist on this server.`,
    'Run `covenant doctor`: it shows both versions. Then stop the server and run `covenant up`, or install the version that the server runs.',
  );
}

export const opensWorkspace = (action: PublishedTool): boolean => [...action.operations.values()].some(({ contract }) => contract.opensWorkspace);

export function noWorkspace({ workspace }: Pick<Call, 'workspace'>): Refused {
  const command = `covenant tokens create --developer NAME --workspace ${workspace}`;
  return refused(
    'error',
    'WORKSPACE_NOT_FOUND',
    `The workspace ${JSON.stringify(workspace)} does not exist.`,
    `Check the name. To create the workspace, run: ${command}`,
  );
}
