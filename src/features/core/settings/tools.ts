import { record, type WriteContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import type { PublishedTool } from '../../../kernel/publish.ts';
import { accessOf } from '../../../kernel/registry.ts';
import { invalidInput, ok } from '../../../kernel/reply.ts';
import { type Implementation, implement, type RetentionInfo } from '../../../kernel/tool.ts';
import { deleteRows, saveRows } from '../../../storage/rows.ts';
import type { SettingRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { PROFILES } from '../capabilities/index.ts';
import { hiding } from '../identity/index.ts';
import {
  DEFINITIONS,
  retentionList,
  rolesList,
  SETTING_KEYS,
  type SettingDefinition,
  type SettingKey,
  type SettingView,
  settingsList,
  settingsSet,
  TOKEN_KINDS,
} from './contract.ts';
import { keptMs, RETENTION, storedSettings } from './store.ts';

export const settingTools: Implementation[] = [
  implement(settingsList, {
    read: async (_input, { reader, workspace, principal }) => {
      const rows = await storedSettings(reader, workspace);
      const hide = await hiding(reader, workspace, principal);
      return ok(await hide({ items: SETTING_KEYS.map((key) => view(key, rows)) }));
    },
  }),
  implement(settingsSet, { write: async (tx, { key, value }, ctx) => ok(await change(tx, ctx, key, value)) }),
];

type SettingValue = Input<typeof settingsSet>['value'];

async function change(tx: Tx, ctx: WriteContext, key: SettingKey, value: SettingValue): Promise<SettingView> {
  const before = view(key, await storedSettings(tx.db, tx.workspace));
  if (value === null) await deleteRows(tx.db, 'settings', { workspace_id: tx.workspace, key });
  else {
    const row = { workspace_id: tx.workspace, key, value: String(fitting(DEFINITIONS[key], value)), updated_at: tx.now, updated_by: ctx.principal.actor };
    await saveRows(tx.db, 'settings', ['workspace_id', 'key'], row);
  }
  const after = view(key, await storedSettings(tx.db, tx.workspace));
  record(tx, ctx, {
    category: 'audit',
    kind: 'setting.changed',
    subject: key,
    payload: { before: before.value, after: after.value, is_default: after.is_default },
  });
  return after;
}

const POSITIONS = { on: 1, off: 0 } as const;

function fitting({ min, max, whole, switch: positions }: SettingDefinition, value: NonNullable<SettingValue>): number {
  const refuse = (message: string) => invalidInput([{ field: 'value', message }]);
  const number = positions && typeof value === 'string' ? POSITIONS[value] : value;
  if (positions && number !== 0 && number !== 1) throw refuse('expected on (1) or off (0)');
  if (typeof number === 'string' || number < min || number > max) throw refuse(`expected a number from ${min} to ${max}`);
  if (whole && !Number.isInteger(number)) throw refuse('expected a whole number');
  return number;
}

function view(key: SettingKey, rows: readonly SettingRow[]): SettingView {
  const { title, default: usual, min, max, switch: positions }: SettingDefinition = DEFINITIONS[key];
  const own = rows.find((row) => row.key === key);
  const value = own ? Number(own.value) : usual;
  const changed = { updated_at: own?.updated_at ?? null, updated_by: own?.updated_by ?? null };
  return { key, title, value, default: usual, is_default: own === undefined, min, max, switch: positions ?? null, ...changed };
}

/** What the running server can do and stores, as its features say it. */
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
      return ok({ items: inventory.keeps().map(({ what, ms }) => ({ what, ms: ms === RETENTION ? set : ms })) });
    },
  }),
];

function viewAction(action: PublishedTool) {
  const access = accessOf(action);
  const { readOnlyHint, destructiveHint } = action.annotations;
  const does: 'reads' | 'destroys' | 'changes' = readOnlyHint ? 'reads' : destructiveHint ? 'destroys' : 'changes';
  // What a capability opens is a tool, not an action.
  return { name: action.name, title: action.title, does, access: access === 'capability' ? ('operator' as const) : access };
}

/** Which tokens may call the tools of a toolset from the start: by the grants that every new token gets. */
function viewToolsets(tools: readonly PublishedTool[]) {
  return [...Map.groupBy(tools, ({ toolset }) => toolset)].map(([toolset, members]) => ({
    toolset,
    tools: members.map(({ name }) => name),
    granted_to: TOKEN_KINDS.filter((kind) => (PROFILES[kind] as readonly string[]).includes(`toolset.${toolset}`)),
  }));
}
