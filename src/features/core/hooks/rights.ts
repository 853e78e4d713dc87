import type { Principal } from '../../../kernel/call.ts';
import type { AccessDecision } from '../../../kernel/ports.ts';
import type { Gate } from '../capabilities/index.ts';

/** What a hook may report besides denied edits, which it reports to every token: the subjects of tools that the token may call. */
export interface HookRights {
  /** To have a session begun and its working tree reported; its notes and contexts. */
  readonly sessions: boolean;
  /** Claims, asks and handoffs. */
  readonly coordination: boolean;
  /** Tasks of the team. */
  readonly tasks: boolean;
  /** Messages, and tasks of workflows with their packs. */
  readonly workflow: boolean;
}

/** The tool that each stands for, which a grant of its own or of its toolset opens. */
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

/** A hook is not counted, and nobody can be asked to approve it: a grant with such bounds is one for calls. */
const isFree = (verdict: AccessDecision): boolean => verdict.allowed && verdict.approve === undefined && verdict.consume === undefined;
