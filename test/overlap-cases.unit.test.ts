import { describe, expect, test } from 'vitest';
import { componentsDiffer, opposed } from '../src/features/team/overlap/divergence.ts';
import { MemoryIndex } from '../src/features/team/overlap/memory-index.ts';
import { type Indexed, type Scored, type Statistics, scorePair } from '../src/features/team/overlap/score.ts';
import { DEFAULT_SETTINGS } from '../src/features/team/overlap/settings.ts';
import { analyse } from '../src/features/team/overlap/terms.ts';
import { CASES, type LabelledPair as Case, type LabelledTask as Task } from './overlap-cases.ts';

const OTHER_WORDS = 'paraphrase-no-shared-words';

const indexed = (id: string, task: Task): Indexed => ({ id, analysed: analyse(task), files: task.target_files ?? [] });
const everything = new MemoryIndex();
for (const [at, { b }] of CASES.entries()) everything.put(indexed(String(at), b));

const alone = ({ b }: Case): Statistics => {
  const index = new MemoryIndex();
  index.put(indexed('b', b));
  return index;
};
const scored = ({ a, b }: Case, statistics: Statistics): Scored => scorePair(indexed('a', a), indexed('b', b), statistics, DEFAULT_SETTINGS);
const escalates = (one: Case, { score, textualEvidence, lowInformation }: Scored): boolean =>
  score >= DEFAULT_SETTINGS.escalate &&
  textualEvidence &&
  !lowInformation &&
  !opposed(one.a.action, one.b.action) &&
  !componentsDiffer(one.a.component, one.b.component);
const shown = (cases: readonly Case[]) => cases.map(({ a, b }) => `${a.title} | ${b.title}`);

describe('the labelled set', () => {
  test('is large, has two halves for each kind, and contains no pair twice', () => {
    expect(CASES.length).toBeGreaterThanOrEqual(180);
    for (const kind of new Set(CASES.map((one) => one.kind))) {
      const halves = CASES.filter((one) => one.kind === kind);
      expect(Math.abs(halves.length - 2 * halves.filter(({ half }) => half === 'test').length), kind).toBeLessThanOrEqual(2);
    }
    expect(new Set(shown(CASES)).size).toBe(CASES.length);
  });

  test('paraphrases in it share no term and no file, and all other duplicates share at least one', () => {
    const duplicates = CASES.filter(({ duplicate }) => duplicate);
    const share = duplicates.filter((one) => {
      const { sharedTerms, sharedFiles } = scored(one, everything);
      return sharedTerms.length > 0 || sharedFiles.length > 0;
    });
    expect(shown(share)).toEqual(shown(duplicates.filter(({ kind }) => kind !== OTHER_WORDS)));
  });
});

describe.each([
  ['in a workspace with all tasks', () => everything as Statistics],
  ['in a workspace with only that task', alone],
])('%s, without a model', (_, statisticsOf) => {
  test('every duplicate that shares a word or a file reaches the warn floor', () => {
    const missed = CASES.filter((one) => one.duplicate && one.kind !== OTHER_WORDS && scored(one, statisticsOf(one)).score < DEFAULT_SETTINGS.warn);
    expect(shown(missed)).toEqual([]);
  });

  test('at least nine of ten escalations are duplicates, also in the held-out half', () => {
    for (const half of ['fit', 'test']) {
      const escalated = CASES.filter((one) => one.half === half && escalates(one, scored(one, statisticsOf(one))));
      expect(escalated.filter(({ duplicate }) => duplicate).length / escalated.length, half).toBeGreaterThanOrEqual(0.9);
      expect(escalated.length, half).toBeGreaterThan(30);
    }
  });

  test('no pair is escalated only because of shared files or generic words, or if the tasks declare opposite goals', () => {
    const kinds = CASES.filter((one) => escalates(one, scored(one, statisticsOf(one))) && !one.duplicate).map(({ kind }) => kind);
    expect(kinds).not.toContain('low-information');
    expect(kinds).not.toContain('opposed-action');
    const filesOnly = CASES.filter(
      (one) => scored(one, statisticsOf(one)).tfidf < DEFAULT_SETTINGS.textualEvidence && escalates(one, scored(one, statisticsOf(one))),
    );
    expect(shown(filesOnly)).toEqual([]);
  });
});
