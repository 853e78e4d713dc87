const VOWEL = /[aeiouy]/;

/** One root for the forms of an English word (retry, retries, retried, retrying). Too little is better than too much: a wrong merge is a false alarm. */
export function stem(word: string): string {
  if (/^\p{Script=Cyrillic}{5,}$/u.test(word)) return word.replace(/[аеёиоуыэюяйьмхв]{1,2}$/u, '');
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  let root = plural(word);
  root = verb(root);
  root = noun(root);
  return root.length > 3 && root.endsWith('e') ? root.slice(0, -1) : root;
}

function plural(word: string): string {
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(ss|x|ch|sh|zz)es$/.test(word)) return word.slice(0, -2);
  return /[^sui]s$/.test(word) ? word.slice(0, -1) : word;
}

function verb(word: string): string {
  if (word.endsWith('ied') && word.length > 4) return `${word.slice(0, -3)}y`;
  const found = /^(.{2,}?)(ing|ed)$/.exec(word);
  const root = found?.[1];
  if (!root || !VOWEL.test(root) || (root.length < 3 && !word.endsWith('ing')) || root.endsWith('e')) return word;
  return root.length > 3 && /([bcdfgkmnprtv])\1$/.test(root) ? root.slice(0, -1) : root;
}

function noun(word: string): string {
  if (/[^aeiou]ment$/.test(word) && word.length > 7) return word.slice(0, -4);
  if (/[ts]ion$/.test(word) && word.length > 6) return word.slice(0, -3);
  if (/ator$/.test(word) && word.length > 6) return word.slice(0, -2);
  return word;
}
