export interface Tokenizer {
  /** Returns the number of tokens in the text. Counting stops above `limit`, and the result is then some number that is greater than `limit`. */
  count(text: string, limit?: number): number;
  /** Returns the longest beginning of the text that has at most `most` tokens. It never ends within a character. */
  head(text: string, most: number): string;
}

/** Special tokens of the model, such as `<|endoftext|>`, are counted as plain text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/**
 * The library merges the characters of a word in pairs, and scans all pairs to find the next one. A word of 100,000 letters takes seconds, during
 * which the server answers no other call. Long words are therefore counted in parts, which adds a few tokens to the result.
 */
const LONGEST_WORD = 1_000;
const RUNS = new RegExp(`[\\p{L}\\p{M}]{1,${LONGEST_WORD}}|[^\\s\\p{L}\\p{M}]{1,${LONGEST_WORD}}|\\s{1,${LONGEST_WORD}}`, 'gu');

function* parts(text: string): Generator<string> {
  let start = 0;
  for (const { 0: run, index } of text.matchAll(RUNS)) {
    if (run.length < LONGEST_WORD) continue;
    yield text.slice(start, index + run.length);
    start = index + run.length;
  }
  yield text.slice(start);
}

let loading: Promise<Tokenizer> | undefined;

/** Loads the tokenizer o200k_base on first use. Loading takes time and tens of megabytes, and some servers never need it. */
export function loadTokenizer(): Promise<Tokenizer> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Tokenizer> {
  const [{ encodeGenerator, isWithinTokenLimit, setMergeCacheSize }, { O200K_TOKEN_SPLIT_REGEX }] = await Promise.all([
    import('gpt-tokenizer/encoding/o200k_base'),
    import('gpt-tokenizer/encodingParams/constants'),
  ]);
  // A large merge cache would keep texts in memory that are no longer needed.
  setMergeCacheSize(1_000);

  function count(text: string, limit = Number.POSITIVE_INFINITY): number {
    let counted = 0;
    for (const part of parts(text)) {
      const more = isWithinTokenLimit(part, limit - counted, AS_TEXT);
      if (more === false) return limit + 1;
      counted += more;
    }
    return counted;
  }

  function head(text: string, most: number): string {
    let [room, end] = [most, 0];
    for (const part of parts(text)) {
      const words = part.matchAll(O200K_TOKEN_SPLIT_REGEX);
      for (const tokens of encodeGenerator(part, AS_TEXT)) {
        const [word] = words.next().value as RegExpExecArray;
        if (tokens.length > room) return text.slice(0, end) + beginningOf(word, room);
        room -= tokens.length;
        end += word.length;
      }
    }
    return text;
  }

  /**
   * Returns the longest beginning of the word that has at most `room` tokens. To find it, counts the tokens of several beginnings. Decoding the first
   * tokens of the word would be simpler, but they may end within a character, and the library would add the rest of that character to the next text.
   */
  function beginningOf(word: string, room: number): string {
    const characters = [...word];
    let [fits, tooMany] = [0, characters.length];
    while (tooMany - fits > 1) {
      const middle = (fits + tooMany) >> 1;
      if (count(characters.slice(0, middle).join(''), room) <= room) fits = middle;
      else tooMany = middle;
    }
    return characters.slice(0, fits).join('');
  }

  return { count, head };
}
