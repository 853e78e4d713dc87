import type { CallRequest } from './call.ts';
import type { Access, Contract, Toolset } from './contract.ts';
import { isRecord } from './input.ts';
import { namespaceOf } from './namespace.ts';
import type { CallKind } from './ports.ts';
import { type PublishedTool, publish } from './publish.ts';
import { NO_TOOLS, type ToolSource } from './relay.ts';
import type { Implementation } from './tool.ts';
import { withoutSecrets } from './usage.ts';

/** Every tool and every action of the running server. Tools are for agents; actions are for operators and the dashboard. */
export class Registry {
  readonly #tools: ReadonlyMap<string, PublishedTool>;
  readonly #actions: ReadonlyMap<string, PublishedTool>;
  /** Tools of the other servers that serve a workspace, which come and go. */
  readonly external: (workspace: string) => ToolSource;

  constructor(implementations: readonly Implementation[], external: (workspace: string) => ToolSource = () => NO_TOOLS) {
    this.external = external;
    const isTool = ({ contract }: Implementation) => contract.access === 'capability';
    this.#tools = byName(publish(implementations.filter(isTool)));
    this.#actions = byName(publish(implementations.filter((implementation) => !isTool(implementation))));
  }

  tool(name: string): PublishedTool | undefined {
    return this.#tools.get(name);
  }

  action(name: string): PublishedTool | undefined {
    return this.#actions.get(name);
  }

  /** The product's own, sorted by name, so that a list is the same each time. */
  tools(): readonly PublishedTool[] {
    return [...this.#tools.values()];
  }

  actions(): readonly PublishedTool[] {
    return [...this.#actions.values()];
  }

  /** A call's arguments as they may be kept and shown: without secrets, and with the place that is meant where they name none. */
  keepable(noun: CallKind, name: string, args: unknown, { repository, place }: Pick<CallRequest, 'repository' | 'place'>): unknown {
    const shown = withoutSecrets(args, this.#secretsOf(noun, name));
    const fields = shown ?? {};
    if (noun !== 'tool' || !isRecord(fields)) return shown;
    const placed = contractsOf(this.#tools.get(name)).find(({ operation }) => operation === undefined || operation === fields.operation)?.placed;
    const meant = placed && { repository_path: repository, repo: place?.repo }[placed];
    return placed && meant ? { [placed]: meant, ...fields } : shown;
  }

  /** The fields of a call's arguments that hold secrets. One with a misspelt name, or a tool's among actions, is recorded all the same. */
  #secretsOf(noun: CallKind, name: string): readonly string[] {
    if (noun !== 'tool' && noun !== 'action') return [];
    const found = (noun === 'action' ? this.#actions.get(name) : undefined) ?? this.#tools.get(name);
    const meant = found ? [found] : this.#namedLike(name);
    return meant.flatMap(contractsOf).flatMap(({ secrets }) => secrets ?? []);
  }

  #namedLike(name: string): readonly PublishedTool[] {
    const toolset = namespaceOf(name);
    return toolset === undefined ? [] : this.tools().filter((tool) => tool.toolset === toolset);
  }

  /** What the gate may know of a name before it is looked up: native names are public, other servers' are not. */
  toolsetOf(name: string): Toolset | undefined {
    return this.#tools.get(name)?.toolset;
  }
}

const contractsOf = (tool: PublishedTool | undefined): Contract[] => [...(tool?.operations.values() ?? [])].map(({ contract }) => contract);

const byName = (tools: readonly PublishedTool[]): ReadonlyMap<string, PublishedTool> => new Map(tools.map((tool) => [tool.name, tool]));

export const accessOf = (action: PublishedTool): Access => [...action.operations.values()][0]?.contract.access ?? 'operator';
