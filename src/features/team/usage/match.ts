/** Where a model is served from is no part of its name: `anthropic/…`, `us.anthropic.…-v1:0`, `models/…`. */
function bareName(model: string): string {
  const last = model.toLowerCase().split('/').at(-1) ?? '';
  return inOneSpelling(last.replace(/^([a-z-]+\.)?anthropic\./, '').replace(/-v\d+(:\d+)?$/, ''));
}

/** Routers write `claude-opus-4.5`, and the first release of a generation is also called `claude-opus-4-0`. */
const inOneSpelling = (name: string): string =>
  name.startsWith('claude-') ? name.replace(/(\d)\.(\d)/, '$1-$2').replace(/^(claude-[a-z]+-\d)-0$/, '$1') : name;

/** Releases of a model cost what the model costs: `-20250929`, `@20250929`, `-2025-08-07`, `-latest`. */
const RELEASE = /^([-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$/;

/** Models whose long context costs no more are called by the same price with and without the mark. */
const LONG_CONTEXT = /\[1m\]$/;
const SAME_PRICE_WHEN_LONG = /^claude-(opus-4-[6-9]|sonnet-4-[6-9]|opus-5)/;

/** Whether `pattern`, a name of a model that may end in `*`, means `model`. */
export function means(pattern: string, model: string): boolean {
  const name = bareName(model);
  const wanted = inOneSpelling(pattern.toLowerCase());
  if (wanted.endsWith('*')) return name.startsWith(wanted.slice(0, -1));
  const plain = SAME_PRICE_WHEN_LONG.test(name) ? name.replace(LONG_CONTEXT, '') : name;
  return plain === wanted || name === wanted || (plain.startsWith(wanted) && RELEASE.test(plain.slice(wanted.length)));
}

/** The pattern that says most of the model: a name before any `*`, and of these the longest. */
export function bestPattern(patterns: Iterable<string>, model: string): string | undefined {
  const rank = (pattern: string) => (pattern.endsWith('*') ? pattern.length : 1_000 + pattern.length);
  return [...patterns].filter((pattern) => means(pattern, model)).sort((one, other) => rank(other) - rank(one))[0];
}
