export type Action = 'create' | 'modify' | 'remove' | 'fix' | 'audit';

/** Pairs of actions that cannot be the same work, because one removes what the other creates or keeps. */
const OPPOSED: Readonly<Record<Action, readonly Action[]>> = {
  create: ['remove'],
  modify: ['remove'],
  fix: ['remove'],
  remove: ['create', 'modify', 'fix'],
  // An audit changes nothing, so it can be the same work as any other action.
  audit: [],
};

/** Whether two actions exclude each other. If one side declares no action, the result is false: the field counts only if both sides set it. */
export const opposed = (one: Action | null | undefined, other: Action | null | undefined): boolean => (one && other ? OPPOSED[one].includes(other) : false);

/** Each group lists the names that agents use for the same layer. */
const LAYERS: readonly (readonly string[])[] = [
  ['server', 'backend', 'back-end', 'api', 'rest', 'graphql', 'service'],
  ['client', 'frontend', 'front-end', 'ui', 'web', 'webapp', 'view', 'dashboard'],
  ['db', 'database', 'storage', 'schema', 'sql', 'postgres', 'migrations'],
  ['docs', 'documentation', 'doc', 'readme'],
  ['test', 'tests', 'testing', 'qa', 'e2e'],
  ['ci', 'build', 'infra', 'infrastructure', 'deploy', 'deployment', 'devops', 'ops'],
  ['cli', 'command-line', 'terminal'],
  ['mobile', 'ios', 'android', 'app'],
];
const LAYER_OF = new Map(LAYERS.flatMap((names, layer) => names.map((name) => [name, layer] as const)));

const cleaned = (component: string): string =>
  component
    .trim()
    .toLowerCase()
    .replace(/[\s_]+/g, '-');

/**
 * Whether two declared components differ. Two names for the same layer do not differ. Neither do two names if one is part of the other, such
 * as `server` and `server-auth`.
 */
export function componentsDiffer(one: string | null | undefined, other: string | null | undefined): boolean {
  const [mine, theirs] = [cleaned(one ?? ''), cleaned(other ?? '')];
  if (mine === '' || theirs === '' || mine === theirs) return false;
  const layer = LAYER_OF.get(mine);
  if (layer !== undefined && layer === LAYER_OF.get(theirs)) return false;
  return !isPartOf(mine, theirs) && !isPartOf(theirs, mine);
}

const isPartOf = (part: string, whole: string): boolean => `-${whole}-`.includes(`-${part}-`);
