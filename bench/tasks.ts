/** Makes synthetic tasks with the statistics of real tasks: few common words, many rare words, and files in folders. Every run makes the same tasks. */

const SYLLABLES = ['ba', 'co', 'di', 'fu', 'ga', 'hi', 'jo', 'ku', 'la', 'me', 'ni', 'po', 'ra', 'si', 'to', 'vu', 'xe', 'zy'];
const VOCABULARY = 30_000;

export interface MadeTask {
  readonly title: string;
  readonly scope: string;
  readonly files: readonly string[];
}

/** The random number generator Mulberry32. It is small and fast, and gives the same numbers on every machine. */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function word(rank: number): string {
  let text = '';
  for (let rest = rank + 19; rest > 0; rest = Math.floor(rest / SYLLABLES.length)) text += SYLLABLES[rest % SYLLABLES.length];
  return text;
}

/** Zipf's law: the n-th most common word is n times as rare as the first. */
const drawn = (random: () => number): string => word(Math.floor(VOCABULARY ** random()) - 1);

const words = (random: () => number, count: number): string => Array.from({ length: count }, () => drawn(random)).join(' ');

export function madeTask(seed: number): MadeTask {
  const random = chance(seed * 7_919 + 13);
  const files = Array.from({ length: Math.floor(random() * 4) }, () => `src/${drawn(random)}/${drawn(random)}.ts`);
  return { title: words(random, 5 + Math.floor(random() * 4)), scope: words(random, 8 + Math.floor(random() * 12)), files };
}

/** Returns a task that describes the same work, partly in different words. */
export function rephrased(task: MadeTask, seed: number): MadeTask {
  const random = chance(seed);
  const other = (text: string) =>
    text
      .split(' ')
      .map((old) => (random() < 0.4 ? drawn(random) : old))
      .sort(() => random() - 0.5)
      .join(' ');
  return { title: other(task.title), scope: other(task.scope), files: task.files.slice(0, 1) };
}
