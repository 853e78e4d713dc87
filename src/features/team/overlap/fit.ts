import { type Statistics, scorePair } from './score.ts';
import { DEFAULT_SETTINGS } from './settings.ts';
import { analyse, type TaskText } from './terms.ts';

/** Nothing but the background: what a handful of texts has in common says nothing about how telling a word is. */
const NO_STATISTICS: Statistics = { documents: 0, frequency: () => 0, fileFrequency: () => 0, prefixFrequency: () => 0 };

/** Everybody waits while somebody chooses: the beginning of a description says what it is about. */
const CHARACTERS = 500;
const brief = ({ title, scope, description }: TaskText): TaskText => ({ title, scope, description: description?.slice(0, CHARACTERS) });

/** Which of a few texts a new one belongs with, if any: the same likeness that would be warned of. */
export function bestFit(text: TaskText, choices: readonly (TaskText & { id: string })[]): string | null {
  const query = { analysed: analyse(brief(text)), files: [] };
  let best: { id: string; score: number } | null = null;
  for (const choice of choices) {
    const scored = scorePair(query, { id: choice.id, analysed: analyse(brief(choice)), files: [] }, NO_STATISTICS, DEFAULT_SETTINGS);
    if (scored.textualEvidence && scored.score >= DEFAULT_SETTINGS.warn && scored.score > (best?.score ?? 0)) best = scored;
  }
  return best?.id ?? null;
}
