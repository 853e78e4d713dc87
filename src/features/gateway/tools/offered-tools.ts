import type { Toolset } from '../../../kernel/contract.ts';
import type { PublishedTool } from '../../../kernel/publish.ts';
import { isRecord } from '../../../kernel/registry.ts';
import type { ExternalTool, Json } from '../../../kernel/relay.ts';
import type { Gate } from '../../core/capabilities/index.ts';

/** Access to the catalogue. It is read only when needed, because it is complete only after all features have started. */
export interface ToolCatalogue {
  tools(): readonly PublishedTool[];
  external(workspace: string): readonly ExternalTool[];
  /** Tools of external servers that are not offered until a person approves them. */
  withheld(workspace: string): readonly { readonly name: string; readonly server: string }[];
  gate(): Gate;
}

export interface OfferedItem {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly toolset: Toolset;
  /** `native`, or the name of an external server. */
  readonly server: string;
  readonly state: ExternalTool['state'] | 'withheld';
  readonly inputSchema: Json;
  readonly outputSchema?: Json;
  readonly annotations: Json;
}

/** The tools of one workspace. Tools of servers that do not serve the workspace are left out. */
export const offeredTools = (catalogue: ToolCatalogue, workspace: string): OfferedItem[] => [
  ...catalogue.tools().map(native),
  ...catalogue.external(workspace).map(external),
  ...catalogue.withheld(workspace).map((tool) => ({ ...tool, ...UNSEEN })),
];

const native = (tool: PublishedTool): OfferedItem => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  toolset: tool.toolset,
  server: 'native',
  state: 'up',
  inputSchema: tool.inputSchema,
  outputSchema: tool.outputSchema,
  annotations: { ...tool.annotations },
});

const external = ({ name, server, state, toolset, definition }: ExternalTool): OfferedItem => ({
  name,
  title: typeof definition.title === 'string' ? definition.title : name,
  description: typeof definition.description === 'string' ? definition.description : '',
  toolset,
  server,
  state,
  inputSchema: definition.inputSchema,
  ...(isRecord(definition.outputSchema) ? { outputSchema: definition.outputSchema } : {}),
  annotations: isRecord(definition.annotations) ? definition.annotations : {},
});

/** Shown in place of the texts of a withheld tool, because nobody has approved them yet. Only the name of the tool is shown. */
const UNSEEN = { title: '', description: '', toolset: 'gateway', state: 'withheld', inputSchema: {}, annotations: {} } as const;
