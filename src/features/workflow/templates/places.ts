import type { TemplateTask } from './contract.ts';

/** What the words of a template leave open: `{{name}}`. */
const PLACE = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g;

type Rewrite = (text: string) => string;

const inWords = <T extends TemplateTask>(task: T, rewrite: Rewrite): T => ({
  ...task,
  name: rewrite(task.name),
  description: rewrite(task.description),
  ...(task.parallel_group === undefined ? {} : { parallel_group: rewrite(task.parallel_group) }),
  ...(task.depends_on === undefined ? {} : { depends_on: task.depends_on.map(rewrite) }),
  ...(task.capabilities === undefined ? {} : { capabilities: task.capabilities.map(rewrite) }),
  ...(task.files_likely_affected === undefined ? {} : { files_likely_affected: task.files_likely_affected.map(rewrite) }),
});

/** What the tasks leave open, in the order of first use. */
export function placesIn(tasks: readonly TemplateTask[]): string[] {
  const found = new Set<string>();
  const note: Rewrite = (text) => {
    for (const [, name] of text.matchAll(PLACE)) found.add(name as string);
    return text;
  };
  for (const task of tasks) inWords(task, note);
  return [...found];
}

/** However it is spaced, a place is written one way, so that what is equal once filled is equal before. */
export const normalised = (tasks: readonly TemplateTask[]): TemplateTask[] =>
  tasks.map((task) => inWords(task, (text) => text.replace(PLACE, (_, name: string) => `{{${name}}}`)));

/** A value is put in as it is: places that it has itself stay as they are. */
export const substituted = (task: TemplateTask, values: ReadonlyMap<string, string>): TemplateTask =>
  inWords(task, (text) => text.replace(PLACE, (place, name: string) => values.get(name) ?? place));
