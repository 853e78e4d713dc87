/**
 * Functions for the single-key shortcuts of lists. A list marks its elements with attributes. `data-row` marks a row, which is opened with its first link or
 * button. `data-id` contains the id of its object. `data-waiting` marks an item that waits for a person. `data-filter` marks the filter field, and
 * `data-show-new` the button that shows new rows.
 */
const all = (selector: string): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>(selector)].filter((element) => element.checkVisibility({ visibilityProperty: true }));

const opener = (row: HTMLElement | undefined): HTMLElement | null | undefined => row?.querySelector<HTMLElement>('a[href], button');
const rowOf = (element: Element | null): HTMLElement | null => element?.closest<HTMLElement>('[data-row]') ?? null;

/** Moves the focus to the next or previous row. If no row has the focus, moves it to the first or last row. */
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

/** Whether `peek` has opened the panel, so that the focus must stay in the list. Returns true only once after each `peek`. */
export function wasPeek(): boolean {
  const wasPeeking = peeking;
  peeking = false;
  return wasPeeking;
}

/** Opens the focused row, but keeps the focus in the list. Does nothing if a button has the focus, because the key then presses the button. */
export function peek(): boolean {
  const { activeElement } = document;
  if (!(activeElement instanceof HTMLAnchorElement) || !rowOf(activeElement)) return false;
  peeking = true;
  activeElement.click();
  return true;
}

/** Returns the id of the object in the focused row, or in the open panel. */
export const idAtHand = (): string | undefined =>
  document.activeElement?.closest<HTMLElement>('[data-id]')?.dataset.id ?? document.querySelector<HTMLElement>('dialog[open] [data-id]')?.dataset.id;

export function focusFilter(): boolean {
  const fields = all('[data-filter]');
  // Prefer a text field, because a select would react to the letters that the person types next.
  const field = fields.find((each) => each.matches('input')) ?? fields[0];
  field?.focus();
  return field !== undefined;
}

export function showNew(): boolean {
  const [button] = all('[data-show-new]');
  button?.click();
  return button !== undefined;
}

/** Moves the focus to the next item that waits for the person. If there is none on this page, opens Now. */
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
