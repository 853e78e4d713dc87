import type { PublishedTool } from '../../../kernel/publish.ts';
import { accessOf } from '../../../kernel/registry.ts';
import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement, type RetentionInfo } from '../../../kernel/tool.ts';
import { PROFILES } from '../capabilities/index.ts';
import { retentionList, rolesList, TOKEN_KINDS } from './contract.ts';
import { keptMs, RETENTION_KEY } from './retention.ts';

/** The tools, actions and stored data of the running server, as declared by its features. */
export interface Inventory {
  tools(): readonly PublishedTool[];
  actions(): readonly PublishedTool[];
  keeps(): readonly RetentionInfo[];
}

export const inventoryTools = (inventory: Inventory): Implementation[] => [
  implement(rolesList, {
    read: async () => ok({ actions: inventory.actions().map(viewAction), toolsets: viewToolsets(inventory.tools()) }),
  }),
  implement(retentionList, {
    read: async (_, { reader, workspace }) => {
      const set = await keptMs(reader, workspace);
      return ok({ items: inventory.keeps().map(({ what, ms }) => ({ what, ms: ms === RETENTION_KEY ? set : ms })) });
    },
  }),
];

function viewAction(action: PublishedTool) {
  const access = accessOf(action);
  const { readOnlyHint, destructiveHint } = action.annotations;
  const does: 'reads' | 'destroys' | 'changes' = readOnlyHint ? 'reads' : destructiveHint ? 'destroys' : 'changes';
  // Capabilities apply to tools, not to actions.
  return { name: action.name, title: action.title, does, access: access === 'capability' ? ('operator' as const) : access };
}

/** Lists the toolsets, each with the kinds of tokens that can call it by default, because every new token of these kinds gets a grant. */
function viewToolsets(tools: readonly PublishedTool[]) {
  return [...Map.groupBy(tools, ({ toolset }) => toolset)].map(([toolset, members]) => ({
    toolset,
    tools: members.map(({ name }) => name),
    granted_to: TOKEN_KINDS.filter((kind) => (PROFILES[kind] as readonly string[]).includes(`toolset.${toolset}`)),
  }));
}
