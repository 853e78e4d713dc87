import { randomInt } from 'node:crypto';

/**
 * The code that a machine shows and a person types, such as `BQPX-FGQR`. It contains no vowels, so that it forms no words, and no
 * letters that look like other letters or digits.
 */
const CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const CODE_LENGTH = 8;

export const CODE_LASTS_MS = 10 * 60_000;

export function newUserCode(draw: (letters: number) => number = randomInt): string {
  return Array.from({ length: CODE_LENGTH }, () => CODE_LETTERS[draw(CODE_LETTERS.length)]).join('');
}

export const shownCode = (code: string): string => `${code.slice(0, CODE_LENGTH / 2)}-${code.slice(CODE_LENGTH / 2)}`;

/** Normalizes a typed code: lower case, spaces and any kind of dash are accepted. */
export const typedCode = (text: string): string => text.toUpperCase().replace(/[^A-Z]/g, '');

export const isUserCode = (code: string): boolean => code.length === CODE_LENGTH && [...code].every((letter) => CODE_LETTERS.includes(letter));
