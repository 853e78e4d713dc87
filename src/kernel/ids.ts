import { randomFillSync } from 'node:crypto';

/** Crockford's base 32: no letter that is mistaken for a digit. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_DIGITS = 10;
const TAIL_DIGITS = 16;
const STEP_DIGITS = 4;

/** Chance is drawn in bulk: a draw per id costs more than all the rest of making one. */
const pool = new Uint8Array(4096);
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
  for (let i = 0; i < TAIL_DIGITS; i++) tail[i] = randomDigit();
  // Room to count up within the millisecond without running over.
  tail[0] = (tail[0] as number) & 15;
}

/** By a random step, so that an id does not tell its neighbour. */
function increment(digits: Uint8Array): void {
  let carry = 1;
  for (let i = TAIL_DIGITS - 1; i >= 0; i--) {
    const step = i >= TAIL_DIGITS - STEP_DIGITS ? randomDigit() : 0;
    const sum = (digits[i] as number) + step + carry;
    digits[i] = sum & 31;
    carry = sum >> 5;
  }
}

function randomDigit(): number {
  if (spent === pool.length) {
    randomFillSync(pool);
    spent = 0;
  }
  return (pool[spent++] as number) & 31;
}
