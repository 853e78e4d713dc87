import type { Principal } from '../../kernel/call.ts';
import { TOOLSETS, type Toolset } from '../../kernel/contract.ts';

export const PUBLISHED_TOOLSETS: readonly Toolset[] = TOOLSETS.filter((toolset) => toolset !== 'admin');

/** A list that every agent reads stays small: what a principal gets at `/mcp` without asking for more. */
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

/** The toolsets of a path: `team`, `team+workflow`, `all`, or nothing for the caller's own. Undefined: no such path. */
export function toolsetsOfPath(path: string | undefined, principal: Principal): ReadonlySet<Toolset> | undefined {
  return path === undefined ? new Set(defaultToolsets(principal)) : toolsetsNamed(path);
}

export function toolsetsNamed(path: string): ReadonlySet<Toolset> | undefined {
  if (path === 'all') return new Set(PUBLISHED_TOOLSETS);
  const names = path.split('+');
  return names.every((name): name is Toolset => PUBLISHED_TOOLSETS.includes(name as Toolset)) ? new Set(names) : undefined;
}
