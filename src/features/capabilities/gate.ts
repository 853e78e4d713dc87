import type { House, Principal } from '../../kernel/context.ts';
import type { Toolset } from '../../kernel/contract.ts';
import type { Denied, Passed, Ports, Verdict } from '../../kernel/dispatch.ts';
import { namespaceOf } from '../../kernel/namespace.ts';
import { refused } from '../../kernel/reply.ts';
import { DEFAULT_WORKSPACE_ID, workspaceName } from '../../kernel/workspace.ts';
import type { NewEvent } from '../../storage/journal.ts';
import type { Tx } from '../../storage/write.ts';
import { actionName, actionsFor, allowsArguments, grantStatus } from './grant.ts';
import { consumeUse, findGrants, grantsOf } from './store.ts';
import type { GrantRow } from './tables.ts';

/** The one tool that needs no grant: the liveness probe. */
const EXEMPT = 'clock';

export interface Gate {
  authorize: Ports['authorize'];
  /** A test for lists: which names this caller could call at all. */
  visibility(principal: Principal): Promise<(tool: string, toolset: Toolset) => boolean>;
}

export function createGate(house: House, toolsetOf: (name: string) => Toolset | undefined): Gate {
  return {
    async authorize(principal, tool, args, pathToolset) {
      if (tool === EXEMPT) return passed(principal, tool, null);
      const actions = actionsFor(tool, pathToolset ?? toolsetOf(tool) ?? namespaceOf(tool));
      const { reader, access } = house.store;
      const key = `grants ${principal.workspace} ${principal.subjects.join(' ')} ${actions.join(' ')}`;
      const grants = await access.get(key, () => findGrants(reader, principal.workspace, principal.subjects, actions));
      const now = house.clock.now();
      const usable = grants.filter((grant) => grantStatus(grant, now) === 'live' && allowsArguments(grant, args));
      const free = usable.find((grant) => grant.max_uses === null);
      if (free) return passed(principal, tool, free);
      if (usable.length === 0) return denied(principal, tool, whyNot(grants, now));
      return { ...passed(principal, tool, usable[0] as GrantRow), consume: (tx) => consumeFirst(tx, principal, tool, usable) };
    },
    async visibility(principal) {
      const now = house.clock.now();
      const grants = await grantsOf(house.store.reader, principal.workspace, principal.subjects);
      const actions = new Set(grants.filter((grant) => grantStatus(grant, now) === 'live').map((grant) => grant.action));
      return (tool, toolset) => tool === EXEMPT || actionsFor(tool, toolset).some((action) => actions.has(action));
    },
  };
}

/** Check and use are one step: of many calls at the same time, exactly as many pass as the grants have uses left. */
async function consumeFirst(tx: Tx, principal: Principal, tool: string, grants: readonly GrantRow[]): Promise<Verdict> {
  for (const { id } of grants) {
    const grant = await consumeUse(tx.db, tx.workspace, id, tx.now);
    if (grant) return passed(principal, tool, grant);
  }
  return denied(principal, tool, 'its grant is used up');
}

function passed(principal: Principal, tool: string, grant: GrantRow | null): Passed {
  return {
    allowed: true,
    grant: grant && { id: grant.id, revision: grant.revision },
    check: checkEvent(principal, tool, true, grant),
  };
}

/** Reads the same for a tool that exists and one that does not. */
function denied(principal: Principal, tool: string, reason: string | undefined): Denied {
  const capability = `tool.call.${tool}`;
  const who = principal.kind === 'operator' ? 'the operator' : `this ${principal.kind} token`;
  // The name is the caller's word, and the command is meant to be pasted into a shell.
  const command = actionName.safeParse(capability).success ? `covenant capabilities grant ${capability}${subjectFlags(principal)}` : null;
  const next =
    command === null
      ? 'No tool can have this name: list the tools to see theirs.'
      : principal.kind === 'operator'
        ? command
        : `Ask the operator to run: ${command}`;
  const message = `Denied: ${who} lacks ${capability}${reason ? ` (${reason})` : ''}.`;
  return {
    allowed: false,
    check: checkEvent(principal, tool, false, null),
    reply: refused('error', 'CAPABILITY_DENIED', message, next, { capability, command }),
  };
}

function subjectFlags(principal: Principal): string {
  const subject = principal.kind === 'operator' ? '' : ` --token ${principal.tokenId}`;
  return principal.workspace === DEFAULT_WORKSPACE_ID ? subject : `${subject} --workspace ${workspaceName(principal.workspace)}`;
}

function whyNot(grants: readonly GrantRow[], now: number): string | undefined {
  const statuses = new Set(grants.map((grant) => grantStatus(grant, now)));
  if (statuses.has('live')) return 'its grant does not allow these arguments';
  if (statuses.has('exhausted')) return 'its grant is used up';
  if (statuses.has('expired')) return 'its grant has expired';
  if (statuses.has('revoked')) return 'its grant was revoked';
  return undefined;
}

function checkEvent(principal: Principal, tool: string, ok: boolean, grant: GrantRow | null): NewEvent {
  const required = tool === EXEMPT ? [] : [`tool.call.${tool}`];
  return {
    category: 'audit',
    kind: 'CapabilityCheck',
    actor: principal.actor,
    subject: `tool:${tool}`,
    // In the order of canonical JSON, which is then quick to write.
    payload: {
      agent_id: `tool:${tool}`,
      authorized_by: grant ? [{ action: grant.action, grant_id: grant.id, granted_by: grant.granted_by, revision: grant.revision }] : [],
      missing_actions: ok ? [] : required,
      passed: ok,
      required_actions: required,
      token_id: principal.tokenId,
    },
  };
}
