/**
 * The effects of single keys on the lists of a page. Lists mark their elements: `data-row` is a row, opened by its first link or button;
 * `data-id` is the id of its object; `data-waiting` marks an item that waits on a person; `data-filter` is the filter field;
 * `data-show-new` is the button that shows new rows.
 */
const all = (selector: string): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>(selector)].filter((element) => element.checkVisibility({ visibilityProperty: true }));

const opener = (row: HTMLElement | undefined): HTMLElement | null | undefined => row?.querySelector<HTMLElement>('a[href], button');
const rowOf = (element: Element | null): HTMLElement | null => element?.closest<HTMLElement>('[data-row]') ?? null;

/** Focuses the next or previous row; without a focused row, the first or the last. */
export function moveRow(step: 1 | -1): boolean {
  const rows = all('[data-row]').filter((row) => opener(row));
  if (rows.length === 0) return false;
  const here = rows.indexOf(rowOf(document.activeElement) as HTMLElement);
  const next = here < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, here + step));
  const target = opener(rows[next]);
  target?.focus();
  target?.scrollIntoView({ block: 'nearest' });
  return true;
}

let peeking = false;

/** Whether the panel that opens now was opened by `peek`, which keeps the focus in the list. Can be read once for each `peek`. */
export function wasPeek(): boolean {
  const wasPeeking = peeking;
  peeking = false;
  return wasPeeking;
}

/** Opens the focused row and keeps the focus in the list. On a button the key keeps its usual effect. */
export function peek(): boolean {
  const { activeElement } = document;
  if (!(activeElement instanceof HTMLAnchorElement) || !rowOf(activeElement)) return false;
  peeking = true;
  activeElement.click();
  return true;
}

/** The id of the focused row, or of the open panel. */
export const idAtHand = (): string | undefined =>
  document.activeElement?.closest<HTMLElement>('[data-id]')?.dataset.id ?? document.querySelector<HTMLElement>('dialog[open] [data-id]')?.dataset.id;

export function focusFilter(): boolean {
  const fields = all('[data-filter]');
  // Prefers a text field: a select before it would take the typed letters.
  const field = fields.find((each) => each.matches('input')) ?? fields[0];
  field?.focus();
  return field !== undefined;
}

export function showNew(): boolean {
  const [button] = all('[data-show-new]');
  button?.click();
  return button !== undefined;
}

/** Focuses the next item that waits on the person; opens Now if this page has none. */
export function nextWaiting(open: () => Promise<void>): void {
  const waiting = all('[data-waiting]');
  if (waiting.length === 0) {
    void open().then(() => requestAnimationFrame(() => focusIn(all('[data-waiting]')[0])));
    return;
  }
  const here = waiting.findIndex((element) => element.contains(document.activeElement));
  focusIn(waiting[(here + 1) % waiting.length]);
}

function focusIn(element: HTMLElement | undefined): void {
  element?.scrollIntoView({ block: 'nearest' });
  element?.querySelector<HTMLElement>('a[href], button, input, textarea')?.focus();
}
