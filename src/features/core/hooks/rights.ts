import type { Principal } from '../../../kernel/call.ts';
import type { AccessDecision } from '../../../kernel/ports.ts';
import type { Gate } from '../capabilities/index.ts';

/** What a hook may do besides denying edits. It depends on the tools that the token may call. */
export interface HookRights {
  /** Sessions, with their working trees, notes and contexts. */
  readonly sessions: boolean;
  /** Claims, asks and handoffs. */
  readonly coordination: boolean;
  /** Tasks of the team. */
  readonly tasks: boolean;
  /** Messages, and workflow tasks with their packs. */
  readonly workflow: boolean;
}

/** The tool that each right depends on, granted by itself or by its toolset. */
const TOOLS: Readonly<Record<keyof HookRights, string>> = {
  sessions: 'covibe_session',
  coordination: 'covibe_coordination',
  tasks: 'covibe_task',
  workflow: 'message_list',
};

export async function rightsOf(gate: Gate, principal: Principal): Promise<HookRights> {
  const may = async (right: keyof HookRights) =>
    isFree(await gate.authorize(principal, { noun: 'tool', name: TOOLS[right], args: undefined, redactedArgs: undefined, toolset: undefined }));
  const [sessions, coordination, tasks, workflow] = await Promise.all([may('sessions'), may('coordination'), may('tasks'), may('workflow')]);
  return { sessions, coordination, tasks, workflow };
}

/** A hook call uses up no grant and cannot wait for approval, so a grant with a use limit, a rate or approval does not apply to hooks. */
const isFree = (verdict: AccessDecision): boolean => verdict.allowed && verdict.approve === undefined && verdict.consume === undefined;
