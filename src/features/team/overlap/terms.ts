import { ANALYSIS } from './settings.ts';
import { stem } from './stem.ts';
import { BRAND, COMPOUND, FILE_ENDING, SAME_WORD, STOP_WORDS } from './words.ts';

/** A task as the index keeps it: JSON, and small. */
export interface Analysed {
  /** Each term once, those of the prefix included, and beside it its weighted count. Two lists are read back faster than one object. */
  readonly terms: readonly string[];
  readonly counts: readonly number[];
  /** The marker that a batch of tasks may share: `[auth-rework]`, `feat(api):`, `Phase 2 -`. */
  readonly prefix: string | null;
  readonly prefixTerms: readonly string[];
}

export interface TaskText {
  readonly title: string;
  readonly scope?: string | null | undefined;
  readonly description?: string | null | undefined;
}

/**
 * They name other work, so that two tasks would look alike for citing the same one: addresses, mail, `org/repo#12`, hashes. Bounded and
 * anchored at the start of a run, or a long text would take quadratic time.
 */
const REFERENCES = [
  /(?<![\w+.-])[a-z][a-z0-9+.-]{1,15}:\/\/\S+/giu,
  /(?<![\w.-])www\.\S+/giu,
  /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{1,190}/giu,
  /(?<![\w.-])(?:gh-\d+\b|[\w.-]{1,39}\/[\w.-]{1,100}#\d+\b)/giu,
  /#\d+\b/gu,
  /\b(?=[a-f]*\d)[0-9a-f]{7,40}\b/giu,
];
/** A soft hyphen or a zero-width space inside a word does not make it another word. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}+/gu;
const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
const CONTRACTION = /['’](?=(?:s|t|re|ve|ll|d|m)\b)/giu;
/** Scripts that put no spaces between words, or glue particles to them. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}ー]+/gu;
const HUMPS = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

interface Found {
  readonly term: string;
  readonly surface: string;
}

const withoutAccents = (word: string): string =>
  word
    .normalize('NFD')
    .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .normalize('NFC');

function clean(text: string): string {
  const start = text.slice(0, ANALYSIS.maximumCharacters).normalize('NFKC').replace(INVISIBLE, '');
  return REFERENCES.reduce((rest, reference) => rest.replace(reference, ' '), start)
    .replace(FILE_ENDING, ' ')
    .replace(BRAND, (name) => name.toLowerCase())
    .replace(CONTRACTION, '')
    .replace(COMPOUND, (pair) => pair.replace(/[ -]/, ''));
}

function* wordsOf(text: string): Generator<Found> {
  for (const [chunk] of clean(text).matchAll(WORD)) {
    for (const [run] of chunk.matchAll(UNSPACED)) yield* bigrams(run);
    for (const spaced of chunk.split(UNSPACED)) yield* identifier(spaced);
  }
}

/** The parts of a name, and the name: `GitHub` must meet `github`, and `user_name` `username`. */
function* identifier(name: string): Generator<Found> {
  const parts = name
    .split('_')
    .flatMap((piece) => piece.split(HUMPS))
    .filter((part) => part !== '');
  for (const part of parts) {
    const term = termOf(part);
    if (term) yield { term, surface: part };
  }
  if (parts.length < 2) return;
  const whole = termOf(parts.join(''));
  if (whole) yield { term: whole, surface: name };
}

function* bigrams(run: string): Generator<Found> {
  const characters = [...run];
  if (characters.length === 1) yield { term: run, surface: run };
  for (let at = 0; at + 1 < characters.length; at++) {
    const pair = `${characters[at]}${characters[at + 1]}`;
    yield { term: pair, surface: pair };
  }
}

function termOf(part: string): string | null {
  const word = withoutAccents(part.toLowerCase());
  if (word.length < 2 || word.length > 40 || STOP_WORDS.has(word) || /^\d{6,}$/.test(word)) return null;
  const root = stem(word);
  return SAME_WORD.get(root) ?? root;
}

export const termsOf = (text: string): string[] => Array.from(wordsOf(text), ({ term }) => term);

/** A word as it was written, for each term: what a person is shown instead of a stem. */
export function surfaces(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const { term, surface } of wordsOf(text)) if (!found.has(term)) found.set(term, surface);
  return found;
}

export function analyse(task: TaskText): Analysed {
  const counts = new Map<string, number>();
  const count = (text: string | null | undefined, weight: number) => {
    for (const term of termsOf(text ?? '')) counts.set(term, (counts.get(term) ?? 0) + weight);
  };
  count(task.title, ANALYSIS.titleWeight);
  count(task.scope, ANALYSIS.scopeWeight);
  count(task.description, 1);
  const kept = [...counts].sort(([, one], [, other]) => other - one).slice(0, ANALYSIS.maximumTerms);
  const prefix = prefixOf(task.title);
  return { terms: kept.map(([term]) => term), counts: kept.map(([, count]) => count), prefix, prefixTerms: prefix === null ? [] : termsOf(prefix) };
}

const PREFIXES: readonly RegExp[] = [
  /^\[([^\]\n]{1,40})\]\s*[:–—-]?\s*(?=\S)/u,
  /^((?:phase|step|part|stage|milestone|sprint|epic|wave|batch|week|iteration|task|fase|etapa|schritt|étape)\s*[\p{N}.]+[a-z]?(?:\/\d+)?)\s*[:.)–—-]+\s+(?=\S)/iu,
  /^([\p{L}\p{N}][^:\n\s]*(?:\s[^:\n\s]+){0,3}):\s+(?=\S)/u,
  /^([\p{L}\p{N}]\S*(?:\s\S+){0,2})\s+[–—-]\s+(?=\S)/u,
];

function prefixOf(title: string): string | null {
  const trimmed = title.trim().normalize('NFKC');
  for (const pattern of PREFIXES) {
    const found = pattern.exec(trimmed)?.[1];
    if (found && found.length <= 40) return found.toLowerCase().replace(/\s+/g, ' ').trim();
  }
  return null;
}
