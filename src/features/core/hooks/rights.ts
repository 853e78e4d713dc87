import type { Principal } from '../../../kernel/call.ts';
import type { AccessDecision } from '../../../kernel/ports.ts';
import type { Gate } from '../capabilities/index.ts';

/** What a hook may do besides denying edits. It depends on the tools that the token may call. */
export interface HookRights {
  /** The hook may handle sessions, with their working trees, notes and contexts. */
  readonly sessions: boolean;
  /** The hook may report claims, asks and handoffs. */
  readonly coordination: boolean;
  /** The hook may report team tasks. */
  readonly tasks: boolean;
  /** The hook may deliver messages, and report workflow tasks with their context packs. */
  readonly workflow: boolean;
}

/** The tool that each right depends on. The grant may name the tool itself or its toolset. */
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

/** Hook calls do not use up grants and cannot wait for approval. So a grant with a use limit, a rate or approval gives hooks no rights. */
const isFree = (verdict: AccessDecision): boolean => verdict.allowed && verdict.approve === undefined && verdict.consume === undefined;
