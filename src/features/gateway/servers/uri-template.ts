const MAX_TEMPLATE = 1024;
const MAX_URI = 4096;
const MAX_PARTS = 64;

type TemplatePart = { readonly text: string } | { readonly stops: string; readonly optional: boolean };

/** The maximum number of steps for one search through all templates. It takes a few milliseconds. */
export const MAX_STEPS = 1_000_000;

/**
 * Whether a URI matches a template (RFC 6570). Templates are not converted to regular expressions, because external servers choose them, and a
 * template with a few greedy variables could make a regular expression run for hours. Here, each part of the template takes one pass over the URI.
 * All templates of a search share `budget`. When it is used up, nothing matches.
 */
export function matchesTemplate(template: string, uri: string, budget: { steps: number } = { steps: MAX_STEPS }): boolean {
  if (template.length > MAX_TEMPLATE || uri.length > MAX_URI) return false;
  // The literal beginning is compared first, because it already rules out most templates.
  const open = template.indexOf('{');
  if (!uri.startsWith(open < 0 ? template : template.slice(0, open))) return false;
  const parts = partsOf(template);
  if (!parts || parts.length > MAX_PARTS) return false;
  budget.steps -= parts.length * uri.length;
  if (budget.steps < 0) return false;
  let reached = new Uint8Array(uri.length + 1);
  reached[0] = 1;
  for (const part of parts) reached = 'text' in part ? afterText(uri, reached, part.text) : afterVariable(uri, reached, part.stops, part.optional);
  return reached[uri.length] === 1;
}

/** Parses a template. Returns undefined if it is invalid. */
function partsOf(template: string): TemplatePart[] | undefined {
  const parts: TemplatePart[] = [];
  let at = 0;
  while (at < template.length) {
    const open = template.indexOf('{', at);
    if (open !== at) parts.push({ text: template.slice(at, open < 0 ? undefined : open) });
    if (open < 0) break;
    const close = template.indexOf('}', open);
    if (close < 0) return undefined;
    parts.push(...variable(template.slice(open + 1, close)));
    at = close + 1;
  }
  return parts;
}

function variable(expression: string): TemplatePart[] {
  const operator = expression[0] ?? '';
  const several = expression.includes(',') || expression.includes('*');
  switch (operator) {
    case '+':
      return [{ stops: '', optional: false }];
    case '#':
      return [{ text: '#' }, { stops: '', optional: false }];
    case '.':
    case '/':
      return [{ text: operator }, { stops: several ? '' : '/,', optional: false }];
    // In a query, each variable is optional.
    case '?':
    case '&':
    case ';':
      return [{ stops: '', optional: true }];
    default:
      return [{ stops: several ? '/' : '/,', optional: false }];
  }
}

function afterText(uri: string, reached: Uint8Array, text: string): Uint8Array<ArrayBuffer> {
  const next = new Uint8Array(uri.length + 1);
  for (let at = 0; at + text.length <= uri.length; at++) if (reached[at] && uri.startsWith(text, at)) next[at + text.length] = 1;
  return next;
}

function afterVariable(uri: string, reached: Uint8Array, stops: string, optional: boolean): Uint8Array<ArrayBuffer> {
  const next = new Uint8Array(uri.length + 1);
  let open = false;
  for (let at = 0; at <= uri.length; at++) {
    if (open || (optional && reached[at])) next[at] = 1;
    if (reached[at]) open = true;
    if (at < uri.length && stops.includes(uri[at] as string)) open = false;
  }
  return next;
}
