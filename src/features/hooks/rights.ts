import type { Principal } from '../../kernel/context.ts';
import type { Verdict } from '../../kernel/ports.ts';
import type { Gate } from '../capabilities/index.ts';
import { hear } from './contract.ts';

/** What a hook may do besides denying edits, which it does for every token. */
export interface Rights {
  /** Sessions, tasks, claims, asks, handoffs, notes and contexts. */
  readonly team: boolean;
  /** Tasks of workflows with their packs, and messages. */
  readonly workflow: boolean;
}

/** What the token may call it may also hear of. */
export async function rightsOf(gate: Gate, principal: Principal): Promise<Rights> {
  const may = async (toolset: keyof Rights) =>
    isFree(await gate.authorize(principal, { noun: 'tool', name: hear.name, args: undefined, keepable: undefined, toolset }));
  const [team, workflow] = await Promise.all([may('team'), may('workflow')]);
  return { team, workflow };
}

/** A hook is not counted, and nobody can be asked to approve it: a grant with such bounds is one for calls. */
const isFree = (verdict: Verdict): boolean => verdict.allowed && verdict.approve === undefined && verdict.consume === undefined;
