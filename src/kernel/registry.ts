import type { Access, Toolset } from './contract.ts';
import type { Noun } from './ports.ts';
import { type PublishedTool, publish } from './publish.ts';
import { NO_TOOLS, type ToolSource } from './relay.ts';
import type { Implementation } from './tool.ts';

/** Every tool and every action of the running server. Tools are for agents; actions are for operators and the dashboard. */
export class Registry {
  readonly #tools: ReadonlyMap<string, PublishedTool>;
  readonly #actions: ReadonlyMap<string, PublishedTool>;
  /** Tools of other servers, which come and go. */
  readonly external: ToolSource;

  constructor(implementations: readonly Implementation[], external: ToolSource = NO_TOOLS) {
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

  /** The fields of a native tool's or an action's arguments that hold secrets. */
  secretsOf(noun: Noun, name: string): readonly string[] {
    const found = noun === 'action' ? this.#actions.get(name) : this.#tools.get(name);
    return found ? [...found.operations.values()].flatMap(({ contract }) => contract.secrets ?? []) : [];
  }

  /** What the gate may know of a name before it is looked up: native names are public, other servers' are not. */
  toolsetOf(name: string): Toolset | undefined {
    return this.#tools.get(name)?.toolset;
  }
}

const byName = (tools: readonly PublishedTool[]): ReadonlyMap<string, PublishedTool> => new Map(tools.map((tool) => [tool.name, tool]));

export const accessOf = (action: PublishedTool): Access => [...action.operations.values()][0]?.contract.access ?? 'operator';
