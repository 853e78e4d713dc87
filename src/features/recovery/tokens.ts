import { asBytes, BytePairs, type Ranks, type Tokenizer } from './bpe.ts';

let loading: Promise<Tokenizer> | undefined;

/** o200k_base. Loaded on first use: it takes a while and some tens of megabytes, which a server that packs no context need not pay. */
export function loadTokenizer(): Promise<Tokenizer> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Tokenizer> {
  const [{ default: tokens }, { O200K_TOKEN_SPLIT_REGEX }] = await Promise.all([
    import('gpt-tokenizer/bpeRanks/o200k_base'),
    import('gpt-tokenizer/encodingParams/constants'),
  ]);
  return new BytePairs(ranksOf(tokens), O200K_TOKEN_SPLIT_REGEX);
}

/** A token stands at its rank, as text or, where it is not text by itself, as bytes. */
function ranksOf(tokens: readonly (string | readonly number[])[]): Ranks {
  const ranks = new Map<string, number>();
  for (const [rank, token] of tokens.entries()) {
    if (token !== undefined) ranks.set(typeof token === 'string' ? asBytes(token) : Buffer.from(token).toString('latin1'), rank);
  }
  return ranks;
}
