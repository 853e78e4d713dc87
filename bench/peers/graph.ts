/** A task of the graph that both products work on. The graph has layers of 100 tasks, and each task has three dependencies. */
export interface LayeredTask {
  readonly name: string;
  readonly layer: number;
  readonly dependsOn: readonly number[];
}

const WIDTH = 100;
export const DESCRIPTION = 'Move the parser of this module to the new grammar and keep its tests green.';

export const layeredTasks = (count: number): LayeredTask[] =>
  Array.from({ length: count }, (_, at) => {
    const [layer, column] = [Math.floor(at / WIDTH), at % WIDTH];
    const before = (shift: number) => (layer - 1) * WIDTH + ((column + shift) % WIDTH);
    return { name: `task ${layer}.${column}`, layer, dependsOn: layer === 0 ? [] : [0, 1, 7].map(before) };
  });
