import { randomInt } from 'node:crypto';

/** No vowels, so that no word comes of it; no letter that is mistaken for another or for a digit. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;

/** The codes are read aloud and typed: eight letters, shown as `BQPX-FGQR`. */
export function newUserCode(draw: (letters: number) => number = randomInt): string {
  return Array.from({ length: LENGTH }, () => LETTERS[draw(LETTERS.length)]).join('');
}

export const shownCode = (code: string): string => `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;

/** However it was typed: small letters, spaces, another dash. */
export const typedCode = (text: string): string => text.toUpperCase().replace(/[^A-Z]/g, '');

export const isUserCode = (code: string): boolean => code.length === LENGTH && [...code].every((letter) => LETTERS.includes(letter));
