import { Refusal } from './errors.ts';

/** SQL pattern for ids that end in `tail`; its own wildcards are taken literally with `escape '\'`. */
export const tailPattern = (tail: string): string => `%${tail.replace(/[\\%_]/g, (c) => `\\${c}`)}`;

/** The one id that was meant by its tail. `found` are the ids that end in it (a few are enough to know). */
export function onlyMatch(found: readonly string[], tail: string, noun: string): string {
  const exact = found.find((id) => id === tail);
  if (exact) return exact;
  const [first, second] = found;
  const upper = noun.toUpperCase();
  if (!first) throw new Refusal(`${upper}_NOT_FOUND`, `No ${noun} ends in ${JSON.stringify(tail)}.`, `List them to see their ids.`);
  if (second) {
    throw new Refusal('AMBIGUOUS_ID', `${JSON.stringify(tail)} fits more than one ${noun}: ${found.slice(0, 5).join(', ')}.`, 'Give more of the id.');
  }
  return first;
}
