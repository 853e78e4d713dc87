/** Arguments as far as they are known: a word that only the shell knows is undefined, and stands for no file. */
export type Arguments = readonly (string | undefined)[];

/** `withValue`: options that take the next word as their value. The rest stand alone. */
export const operandsOf = (args: Arguments, withValue: Iterable<string> = []): Arguments => {
  const takesNext = new Set(withValue);
  const operands: (string | undefined)[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === '--') return [...operands, ...args.slice(at + 1)];
    if (word !== undefined && word.length > 1 && word.startsWith('-')) {
      if (takesNext.has(word)) at++;
    } else operands.push(word);
  }
  return operands;
};

export const valuesOf = (args: Arguments, ...names: string[]): Arguments =>
  args.flatMap((word, at) => {
    if (word === undefined) return [];
    if (names.includes(word)) return [args[at + 1]];
    const whole = names.find((name) => name.startsWith('--') && word.startsWith(`${name}=`));
    return whole ? [word.slice(whole.length + 1)] : [];
  });

export const has = (args: Arguments, ...options: string[]): boolean => args.some((word) => word !== undefined && options.includes(word));
