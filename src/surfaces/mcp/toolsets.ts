import type { Principal } from '../../kernel/call.ts';
import { TOOLSETS, type Toolset } from '../../kernel/contract.ts';
import type { App } from '../../main.ts';
import { nearest } from '../../wire/nearest.ts';

export const PUBLISHED_TOOLSETS: readonly Toolset[] = TOOLSETS.filter((toolset) => toolset !== 'admin');

/** Returns the toolsets of the path `/mcp`. They are few, because every agent reads the tool list each time it starts. */
function defaultToolsets(principal: Principal): readonly Toolset[] {
  switch (principal.kind) {
    case 'operator':
      return ['gateway'];
    case 'instance':
      return ['review', 'team'];
    case 'developer':
    case 'agent':
      return ['team', 'gateway'];
  }
}

/**
 * Returns the toolsets of a path such as `team`, `team+workflow` or `all`. Without a
 * path, returns the defaults of the caller. Returns undefined if the path does not exist.
 */
export function toolsetsOfPath(path: string | undefined, principal: Principal): ReadonlySet<Toolset> | undefined {
  return path === undefined ? new Set(defaultToolsets(principal)) : toolsetsNamed(path);
}

/** Returns the existing path that is most similar to an unknown path. Suggests only toolsets with a tool that the caller may list. */
export async function nearestToolsets(path: string, principal: Principal, { registry, gate }: Pick<App, 'registry' | 'gate'>): Promise<string | undefined> {
  const may = await gate.visibility(principal);
  const usable = registry.tools().filter(({ name, toolset }) => may.tool(name, toolset));
  const known = [...PUBLISHED_TOOLSETS.filter((name) => usable.some(({ toolset }) => toolset === name)), 'all'];
  const found = path.split('+').map((name) => nearest(name, known));
  const distinct = [...new Set(found)];
  return found.includes(undefined) ? undefined : distinct.includes('all') ? 'all' : distinct.join('+');
}

export function toolsetsNamed(path: string): ReadonlySet<Toolset> | undefined {
  if (path === 'all') return new Set(PUBLISHED_TOOLSETS);
  const names = path.split('+');
  return names.every((name): name is Toolset => PUBLISHED_TOOLSETS.includes(name as Toolset)) ? new Set(names) : undefined;
}
