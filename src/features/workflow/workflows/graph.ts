import { Refusal } from '../../../kernel/reply.ts';

/** The rules for task graphs. The functions take linear time and use no recursion, because a chain may be 10,000 tasks long. */

export interface Node {
  readonly name: string;
  readonly depends_on?: readonly string[] | undefined;
}

/** Returns the dependencies of each task without duplicates. Refuses unknown names and cycles. `where` is the input field that contains the tasks. */
export function checkPlan(tasks: readonly Node[], where = 'plan.tasks'): Map<string, readonly string[]> {
  const dependencies = new Map<string, readonly string[]>();
  for (const [index, { name, depends_on = [] }] of tasks.entries()) {
    if (dependencies.has(name)) throw duplicateName(name, `${where}[${index}].name`);
    dependencies.set(name, [...new Set(depends_on)]);
  }
  for (const [index, { name }] of tasks.entries()) {
    for (const dependency of dependencies.get(name) ?? []) {
      const field = `${where}[${index}].depends_on`;
      if (dependency === name) throw selfDependency(name, field);
      if (!dependencies.has(dependency)) throw unknownDependency(name, dependency, field);
    }
  }
  const cycle = findCycle(dependencies);
  if (cycle) throw dependencyCycle(cycle, where);
  return dependencies;
}

/** Returns the first cycle that is found. For example, `[a, b, a]` means that a depends on b, and b depends on a. */
export function findCycle(dependencies: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  for (const start of dependencies.keys()) {
    if (done.has(start)) continue;
    // The path from `start` to the current task, and for each task on it the index of the next dependency to follow.
    const path = [start];
    const positions = new Map([[start, 0]]);
    const nextIndexes = [0];
    while (path.length > 0) {
      const here = path.at(-1) as string;
      const at = nextIndexes.pop() as number;
      nextIndexes.push(at + 1);
      const next = dependencies.get(here)?.[at];
      if (next === undefined) {
        done.add(here);
        positions.delete(here);
        path.pop();
        nextIndexes.pop();
      } else if (positions.has(next)) {
        return [...path.slice(positions.get(next)), next];
      } else if (!done.has(next)) {
        positions.set(next, path.length);
        path.push(next);
        nextIndexes.push(0);
      }
    }
  }
  return undefined;
}

const duplicateName = (name: string, field: string): Refusal =>
  new Refusal('DUPLICATE_TASK_NAME', `Two tasks are named ${JSON.stringify(name)}.`, 'Call again with a different name for each task.', { field, name });

export const selfDependency = (name: string, field: string): Refusal =>
  new Refusal('SELF_DEPENDENCY', `Task ${JSON.stringify(name)} depends on itself.`, `Call again without ${JSON.stringify(name)} in \`${field}\`.`, {
    field,
    name,
  });

export const unknownDependency = (name: string, dependency: string, field: string): Refusal =>
  new Refusal(
    'UNKNOWN_DEPENDENCY',
    `Task ${JSON.stringify(name)} refers to ${JSON.stringify(dependency)}, but the workflow has no task with that name.`,
    `Call again with the exact name of an existing task in \`${field}\`, or leave out ${JSON.stringify(dependency)}.`,
    { field, name, dependency },
  );

/** A cycle may contain all tasks of a workflow. The refusal lists at most this many of them. */
const MAX_NAMED = 500;

export function dependencyCycle(cycle: readonly string[], field: string): Refusal {
  const shown = cycle.length <= MAX_NAMED ? cycle : [...cycle.slice(0, MAX_NAMED - 1), `(${cycle.length - MAX_NAMED} more)`, ...cycle.slice(-1)];
  return new Refusal('DEPENDENCY_CYCLE', `These tasks wait for each other: ${shown.join(' → ')}.`, 'Call again without one of these dependencies.', {
    field,
    cycle: shown,
  });
}
