interface Named {
  readonly id: string;
  readonly name: string;
}

const LONGEST = 40;

/** Converts a name to a form that is valid in branch names, and in folder names on every operating system. */
export function slug(name: string, otherwise: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST)
    .replace(/^-+|-+$/g, '');
  return plain || otherwise;
}

/** Appends the end of the id, so that workflows or tasks with the same name are distinguished. */
const tailed = ({ id, name }: Named, otherwise: string): string => `${slug(name, otherwise)}-${id.slice(-6).toLowerCase()}`;

/** Prefix of all task branches. A task branch exists until its work is merged into another branch. */
export const TASK_BRANCHES = 'workflow/';

/** Returns the path and the branch of a task's worktree. If the task had worktrees before, a number is appended to both. */
export function placeFor(root: string, workflow: Named, task: Named, earlier: number): { path: string; branch: string } {
  const number = earlier === 0 ? '' : `-${earlier + 1}`;
  const own = `${tailed(task, 'task')}${number}`;
  return { path: `${root}-worktrees/${own}`, branch: `${TASK_BRANCHES}${tailed(workflow, 'workflow')}/${own}` };
}
