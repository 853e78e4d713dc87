import { componentsDiffer, opposed } from '../../src/features/team/overlap/divergence.ts';
import { MemoryIndex } from '../../src/features/team/overlap/memory-index.ts';
import { scorePair } from '../../src/features/team/overlap/score.ts';
import { DEFAULT_SETTINGS } from '../../src/features/team/overlap/settings.ts';
import { analyse } from '../../src/features/team/overlap/terms.ts';
import { CASES, type LabelledTask } from '../../test/overlap-cases.ts';
import type { Embed } from './embedder.ts';

export interface Judged {
  readonly kind: string;
  readonly half: 'fit' | 'test';
  readonly isDuplicate: boolean;
  readonly warns: boolean;
  readonly escalates: boolean;
}

export interface Judgement {
  readonly judged: readonly Judged[];
  /** How many tasks match a task of a different pair, which is not a duplicate. `size` is the number of tasks in the workspace. */
  readonly strangers: { readonly warned: number; readonly escalated: number; readonly size: number };
}

/** Checks the first task of each pair against a workspace that contains the second tasks of all pairs, in the same way as an agent's check. */
export async function judge(embed: Embed | null): Promise<Judgement> {
  const text = ({ title, scope, description }: LabelledTask) => [title, scope, description].filter(Boolean).join('\n');
  const vectors = embed ? await embed(CASES.flatMap(({ a, b }) => [text(a), text(b)])) : [];
  const item = (task: LabelledTask, id: string, vector: Float32Array | undefined) => ({ id, analysed: analyse(task), files: task.target_files ?? [], vector });
  const index = new MemoryIndex();
  const stored = CASES.map(({ b }, at) => item(b, String(at), vectors[2 * at + 1]));
  for (const one of stored) index.put(one);
  const strangers = { warned: 0, escalated: 0, size: CASES.length };
  const judged = CASES.map(({ kind, half, duplicate, a, b }, at): Judged => {
    const mine = item(a, 'query', vectors[2 * at]);
    const verdict = (other: number) => {
      const { score, textualEvidence, lowInformation } = scorePair(mine, stored[other] as (typeof stored)[number], index, DEFAULT_SETTINGS);
      const theirs = CASES[other]?.b;
      const diverges = opposed(a.action, theirs?.action) || componentsDiffer(a.component, theirs?.component);
      return { warns: score >= DEFAULT_SETTINGS.warn, escalates: score >= DEFAULT_SETTINGS.escalate && textualEvidence && !lowInformation && !diverges };
    };
    const others = CASES.map((_, other) => other).filter((other) => other !== at && CASES[other]?.b.title !== b.title);
    const found = others.map(verdict);
    if (found.some(({ warns }) => warns)) strangers.warned++;
    if (found.some(({ escalates }) => escalates)) strangers.escalated++;
    return { kind, half, isDuplicate: duplicate, ...verdict(at) };
  });
  return { judged, strangers };
}

const OTHER_WORDS = 'paraphrase-no-shared-words';

export interface Quality {
  readonly precision: number;
  readonly recall: number;
  readonly warnRecall: number;
  readonly paraphraseRecall: number;
}

export function qualityOf(judged: readonly Judged[], half: 'fit' | 'test'): Quality {
  const mine = judged.filter((one) => one.half === half);
  const share = (part: readonly Judged[], test: (one: Judged) => boolean) => part.filter(test).length / Math.max(1, part.length);
  const duplicates = mine.filter(({ isDuplicate, kind }) => isDuplicate && kind !== OTHER_WORDS);
  return {
    precision: share(
      mine.filter(({ escalates }) => escalates),
      ({ isDuplicate }) => isDuplicate,
    ),
    recall: share(duplicates, ({ escalates }) => escalates),
    warnRecall: share(duplicates, ({ warns }) => warns),
    paraphraseRecall: share(
      mine.filter(({ kind }) => kind === OTHER_WORDS),
      ({ warns }) => warns,
    ),
  };
}
