import { randomBytes } from 'node:crypto';

/** Crockford's base 32: no letter that is mistaken for a digit. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** `task_` + 10 characters of time + 16 of chance: ids of one kind sort by when they were made. */
export function newId(prefix: string, now: number): string {
  let tail = '';
  for (const byte of randomBytes(16)) tail += ALPHABET[byte & 31];
  let time = '';
  for (let rest = now, digit = 0; digit < 10; digit++, rest = Math.floor(rest / 32)) time = ALPHABET[rest % 32] + time;
  return `${prefix}_${time}${tail}`;
}
