import { ANALYSIS } from './settings.ts';
import { COMMON_TERMS, COMPOUND_WORDS, JOINING_WORDS, PATH_WORDS, SYNONYMS } from './word-lists.ts';

/** The analysed text of a task, in a form that takes little space as JSON. The index stores it. */
export interface Analysed {
  /** Each term once, including those of the prefix. `counts` contains their weighted counts, because two lists are parsed faster than one object. */
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

export const termsOf = (text: string): string[] => Array.from(wordsOf(text), ({ term }) => term);

/** Maps each term to the word as it was written, so that people are shown the word and not its stem. */
export function surfaces(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const { term, surface } of wordsOf(text)) if (!found.has(term)) found.set(term, surface);
  return found;
}

interface FoundTerm {
  readonly term: string;
  readonly surface: string;
}

function* wordsOf(text: string): Generator<FoundTerm> {
  for (const [chunk] of clean(text).matchAll(WORD)) {
    for (const [run] of chunk.matchAll(UNSPACED)) yield* bigrams(run);
    for (const spaced of chunk.split(UNSPACED)) yield* identifier(spaced);
  }
}

/** Yields the parts of a name and also the whole name, so that `user_name` matches `username`. */
function* identifier(name: string): Generator<FoundTerm> {
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

function* bigrams(run: string): Generator<FoundTerm> {
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

function clean(text: string): string {
  const start = text.slice(0, ANALYSIS.maximumCharacters).normalize('NFKC').replace(INVISIBLE, '');
  return REFERENCES.reduce((rest, reference) => rest.replace(reference, ' '), start)
    .replace(FILE_ENDING, ' ')
    .replace(BRAND, (name) => name.toLowerCase())
    .replace(CONTRACTION, '')
    .replace(COMPOUND, (pair) => pair.replace(/[ -]/, ''));
}

/**
 * References to other work, such as URLs, mail addresses, `org/repo#12` and hashes. They are dropped, because two tasks that cite the same
 * reference would look alike. The patterns are bounded and match only at the start of a run of characters. Otherwise a long text would take
 * quadratic time.
 */
const REFERENCES = [
  /(?<![\w+.-])[a-z][a-z0-9+.-]{1,15}:\/\/\S+/giu,
  /(?<![\w.-])www\.\S+/giu,
  /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{1,190}/giu,
  /(?<![\w.-])(?:gh-\d+\b|[\w.-]{1,39}\/[\w.-]{1,100}#\d+\b)/giu,
  /#\d+\b/gu,
  /\b(?=[a-f]*\d)[0-9a-f]{7,40}\b/giu,
];
/** Invisible characters are removed, because a word with a soft hyphen or a zero-width space in it is still the same word. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}+/gu;

/** File extensions are dropped, because all tasks of a project share its language. In `JSON output`, the word is no extension and stays. */
const FILE_ENDING =
  /(?<=[\p{L}\p{N}_)\]])\.(?:[cm]?[jt]sx?|py|rb|rs|go|java|kts?|swift|cpp|hpp|cc|cs|php|s?css|sass|html?|md|json|ya?ml|toml|xml|sh|txt|sql|vue)\b/giu;

const COMPOUND = new RegExp(`\\b(?:${COMPOUND_WORDS.replaceAll('\n', '').replaceAll(' ', '[ -]')})(?=s?\\b)`, 'giu');

/** Names that contain a capital letter but are one word. They must not be split, because their parts would then count as extra terms. */
const BRAND =
  /\b(?:GraphQL|GitHub|GitLab|BitBucket|OAuth|OpenAI|OpenAPI|OpenTelemetry|OpenGL|OpenSSL|JavaScript|TypeScript|CoffeeScript|jQuery|PostgreSQL|MySQL|SQLite|NoSQL|MongoDB|DynamoDB|MariaDB|RabbitMQ|iOS|iPadOS|macOS|tvOS|watchOS|FreeBSD|YouTube|LinkedIn|PayPal|WebGL|WebAssembly|WebRTC|WebSocket|DevOps|IntelliJ|VSCode|JetBrains|LaTeX|NumPy|SciPy|PyTorch|TensorFlow|FastAPI|NextJS|NodeJS|npm|IPv[46]|UTF8)(?=s?\b)/gu;

const CONTRACTION = /['’](?=(?:s|t|re|ve|ll|d|m)\b)/giu;

const WORD = /[\p{L}\p{M}\p{N}_]+/gu;

/** Scripts that write no spaces between words, or that attach particles to words. Their text is split into pairs of characters. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}ー]+/gu;
const HUMPS = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

const withoutAccents = (word: string): string =>
  word
    .normalize('NFD')
    .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .normalize('NFC');

const STOP_WORDS: ReadonlySet<string> = new Set(`${JOINING_WORDS} ${PATH_WORDS}`.split(/\s+/));

const VOWEL = /[aeiouy]/;

/**
 * Reduces the forms of a word (retry, retries, retried) to one root. In doubt, it keeps two words apart, because a wrong merge causes a false alarm.
 */
export function stem(word: string): string {
  if (/^\p{Script=Cyrillic}{5,}$/u.test(word)) return word.replace(/[аеёиоуыэюяйьмхв]{1,2}$/u, '');
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  let root = plural(word);
  root = verb(root);
  root = noun(root);
  return root.length > 3 && root.endsWith('e') ? root.slice(0, -1) : root;
}

function plural(word: string): string {
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(ss|x|ch|sh|zz)es$/.test(word)) return word.slice(0, -2);
  return /[^sui]s$/.test(word) ? word.slice(0, -1) : word;
}

function verb(word: string): string {
  if (word.endsWith('ied') && word.length > 4) return `${word.slice(0, -3)}y`;
  const found = /^(.{2,}?)(ing|ed)$/.exec(word);
  const root = found?.[1];
  if (!root || !VOWEL.test(root) || (root.length < 3 && !word.endsWith('ing')) || root.endsWith('e')) return word;
  return root.length > 3 && /([bcdfgkmnprtv])\1$/.test(root) ? root.slice(0, -1) : root;
}

function noun(word: string): string {
  if (/[^aeiou]ment$/.test(word) && word.length > 7) return word.slice(0, -4);
  if (/[ts]ion$/.test(word) && word.length > 6) return word.slice(0, -3);
  if (/ator$/.test(word) && word.length > 6) return word.slice(0, -2);
  return word;
}

const SAME_WORD: ReadonlyMap<string, string> = new Map(
  SYNONYMS.split('|').flatMap((group) => {
    const [first = '', ...others] = group.trim().split(/\s+/).map(stem);
    return others.filter((other) => other !== first).map((other) => [other, first] as const);
  }),
);

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

const COMMONEST = 0.25;
/** The share of a term that is not in the table. It is lower than the shares of all terms in the table. */
const UNKNOWN = 0.0002;

const SHARES = new Map<string, number>(
  COMMON_TERMS.split('|').flatMap((terms, at) =>
    terms
      .trim()
      .split(/\s+/)
      .map((term) => [term, COMMONEST / 2 ** at] as const),
  ),
);

/** The share of software tasks in general that contain a term. */
export const backgroundShare = (term: string): number => SHARES.get(term) ?? UNKNOWN;

/** The maximum number of postings per item. The most informative terms are enough to find candidates, which are then scored with all terms. */
const POSTED_TERMS = 24;
/** How fast the weight of a repeated term saturates, as in BM25. There is no correction for the length of a task, because the score makes it. */
const SATURATION = 1.2;

export function postedTerms({ terms, counts, prefixTerms }: Analysed): { term: string; weight: number }[] {
  return terms
    .map((term, at) => ({ term, count: counts[at] as number }))
    .filter(({ term }) => !prefixTerms.includes(term) || terms.length <= POSTED_TERMS)
    .sort((one, other) => backgroundShare(one.term) - backgroundShare(other.term) || (one.term < other.term ? -1 : 1))
    .slice(0, POSTED_TERMS)
    .map(({ term, count }) => ({ term, weight: Math.round((100 * count) / (count + SATURATION)) }));
}

/** If work has a description but no scope, this many characters of the description are used as the scope. */
const SCOPE_SHOWN = 300;

export const scopeOf = ({ scope, description }: Pick<TaskText, 'scope' | 'description'>): string | null => scope ?? description?.slice(0, SCOPE_SHOWN) ?? null;

/** The text that the embedding model gets. It must be the same for queries and for stored work. */
export const embeddedText = (work: TaskText): string => {
  const scope = scopeOf(work);
  return scope ? `${work.title}\n${scope}` : work.title;
};
