import { randomFillSync } from 'node:crypto';

/** Crockford's base 32: no letter that is mistaken for a digit. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_DIGITS = 10;
const TAIL_DIGITS = 16;

/** Chance is drawn in bulk: a draw per id costs more than all the rest of making one. */
const pool = new Uint8Array(TAIL_DIGITS * 256);
let spent = pool.length;

let lastTime = -1;
const tail = new Uint8Array(TAIL_DIGITS);

/** `task_` + time + chance. Ids sort by when they were made, also those that one process made in one millisecond. */
export function newId(prefix: string, now: number): string {
  if (now === lastTime) increment(tail);
  else drawTail();
  lastTime = now;
  let id = '';
  for (let rest = now, digit = 0; digit < TIME_DIGITS; digit++, rest = Math.floor(rest / 32)) id = ALPHABET[rest % 32] + id;
  for (const digit of tail) id += ALPHABET[digit];
  return `${prefix}_${id}`;
}

function drawTail(): void {
  if (spent + TAIL_DIGITS > pool.length) {
    randomFillSync(pool);
    spent = 0;
  }
  for (let i = 0; i < TAIL_DIGITS; i++) tail[i] = (pool[spent++] as number) & 31;
  // Room to count up within the millisecond without running over.
  tail[0] = (tail[0] as number) & 15;
}

/** By a random step, so that an id does not tell its neighbour. */
function increment(digits: Uint8Array): void {
  const step = new Uint8Array(4);
  randomFillSync(step);
  let carry = 0;
  for (let i = TAIL_DIGITS - 1; i >= 0; i--) {
    const added = i >= TAIL_DIGITS - 4 ? (step[TAIL_DIGITS - 1 - i] as number) & 31 : 0;
    const sum = (digits[i] as number) + added + carry + (i === TAIL_DIGITS - 1 ? 1 : 0);
    digits[i] = sum & 31;
    carry = sum >> 5;
  }
}
