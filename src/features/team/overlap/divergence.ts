export type Action = 'create' | 'modify' | 'remove' | 'fix' | 'audit';

/** Declared actions that cannot be the same work: one removes what the other creates or keeps. */
const OPPOSED: Readonly<Record<Action, readonly Action[]>> = {
  create: ['remove'],
  modify: ['remove'],
  fix: ['remove'],
  remove: ['create', 'modify', 'fix'],
  // An audit changes nothing, so it may cover the same ground as any other action.
  audit: [],
};

/** An undeclared action is opposed to none. The fields make the comparison more precise only if both sides declare them. */
export const opposed = (one: Action | null | undefined, other: Action | null | undefined): boolean => (one && other ? OPPOSED[one].includes(other) : false);

/** Names that agents use for one layer. */
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

/** Whether two declared components differ. Names of the same layer do not, nor do names of which one is part of the other (`server`, `server-auth`). */
export function componentsDiffer(one: string | null | undefined, other: string | null | undefined): boolean {
  const [mine, theirs] = [cleaned(one ?? ''), cleaned(other ?? '')];
  if (mine === '' || theirs === '' || mine === theirs) return false;
  const layer = LAYER_OF.get(mine);
  if (layer !== undefined && layer === LAYER_OF.get(theirs)) return false;
  return !isPartOf(mine, theirs) && !isPartOf(theirs, mine);
}

const isPartOf = (part: string, whole: string): boolean => `-${whole}-`.includes(`-${part}-`);
