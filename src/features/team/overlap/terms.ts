import { ANALYSIS } from './settings.ts';

const VOWEL = /[aeiouy]/;

/** One root for the forms of an English word (retry, retries, retried, retrying). Too little is better than too much: a wrong merge is a false alarm. */
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

/** Words that join and do not tell, of the languages that tasks are most often written in. */
const JOINING = `a about above after again all also although am an and any are as at be because been before being below between both but by can cannot
could did do does doing done down during each either else etc even ever every few for from further get gets getting got had has have having he her here hers him
his how i if in into is it its itself just let like may maybe me might more most much must my need needs neither no nor not now of off often on once only or
other our out over own per please quite rather s same she should since so some still such t than that the their them then there these they this those though
through thus to too under until up upon us use used uses using very via was we well were what when where whether which while who whom whose why will with
within without would yes yet you your also dont doesnt isnt cant wont im ive its lets
al con da das de dei del della den der des di die do dos du e ein eine einen einer el em en es est et fur il ist la las le les los mit na nao no non nos o os
para par pas per por pour que qui se si sur um uma un una und une uno von y zu zum zur`;

const PATH_PARTS = 'src lib www';

export const STOP_WORDS: ReadonlySet<string> = new Set(`${JOINING} ${PATH_PARTS}`.split(/\s+/));

/** The ending of a file name says which language a project is in, which all of its tasks share; `JSON output` keeps its word. */
export const FILE_ENDING =
  /(?<=[\p{L}\p{N}_)\]])\.(?:[cm]?[jt]sx?|py|rb|rs|go|java|kts?|swift|cpp|hpp|cc|cs|php|s?css|sass|html?|md|json|ya?ml|toml|xml|sh|txt|sql|vue)\b/giu;

/** Written apart, with a hyphen or in one, by different people: `health check` and `healthcheck` are one term. */
const COMPOUNDS = `back end|front end|health check|time zone|time stamp|time out|web socket|web hook|log in|log out|sign in|sign up|sign out|file name|user name|
host name|name space|drop down|check box|check out|set up|clean up|start up|road map|data base|data set|white list|black list|allow list|side bar|tool bar|
tool tip|tool chain|nav bar|pop up|roll back|fall back|call back|work flow|work space|life cycle|run time|code base|dead lock|end point|meta data|play back|
time line|white space|work around|auto save|auto complete`;

export const COMPOUND = new RegExp(`\\b(?:${COMPOUNDS.replaceAll('\n', '').replaceAll(' ', '[ -]')})(?=s?\\b)`, 'giu');

/** Names with a capital inside that are one word: in parts they would count twice. */
export const BRAND =
  /\b(?:GraphQL|GitHub|GitLab|BitBucket|OAuth|OpenAI|OpenAPI|OpenTelemetry|OpenGL|OpenSSL|JavaScript|TypeScript|CoffeeScript|jQuery|PostgreSQL|MySQL|SQLite|NoSQL|MongoDB|DynamoDB|MariaDB|RabbitMQ|iOS|iPadOS|macOS|tvOS|watchOS|FreeBSD|YouTube|LinkedIn|PayPal|WebGL|WebAssembly|WebRTC|WebSocket|DevOps|IntelliJ|VSCode|JetBrains|LaTeX|NumPy|SciPy|PyTorch|TensorFlow|FastAPI|NextJS|NodeJS|npm|IPv[46]|UTF8)(?=s?\b)/gu;

/** Short and long form of one thing, and two words for one thing, as developers write them; each group becomes its first word. */
const SAME = `authentication auth authn authenticate|login signin logon|authorization authz authorize|database db|repository repo|configuration config cfg conf configure|
directory dir folder|documentation docs doc|kubernetes k8s kube|internationalization i18n internationalize|localization l10n localize|accessibility a11y|
performance perf|environment env|parameter param|argument arg|message msg|error err exception|button btn|image img picture|implement impl implementation|
dependency dep|postgres postgresql pg psql|application app|administrator admin|information info|specification spec|maximum max|minimum min|temporary temp tmp|
variable var|function func fn|request req|response resp|number num|reference ref|package pkg|initialize init initialise|synchronize sync synchronise|
asynchronous async|management mgmt|navigation nav navbar|remove delete erase deletion removal|create add creation addition|destination dest dst|previous prev|
current curr|index idx|string str|command cmd|development dev|production prod|memory mem|address addr|attribute attr|certificate cert|credential cred|
character char|generate gen|context ctx|object obj|original orig|description desc|calculate calc compute|column col|average avg|transaction txn tx|websocket ws|
vulnerability vuln cve|notification notif notify|organization org organisation|colour color|behaviour behavior|email mail|cancel abort|verify check verification|
timezone tz|upgrade bump|deduplicate dedupe dedup|observability o11y|validate validation|optimize optimise optimization|serialize serialise|analyze analyse`;

export const SAME_WORD: ReadonlyMap<string, string> = new Map(
  SAME.split('|').flatMap((group) => {
    const [first = '', ...others] = group.trim().split(/\s+/).map(stem);
    return others.filter((other) => other !== first).map((other) => [other, first] as const);
  }),
);

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
