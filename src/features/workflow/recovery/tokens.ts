import { asBytes, BytePairs, type Ranks, type Tokenizer } from './bpe.ts';
import { Turns } from './turns.ts';

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
  return new BytePairs(await ranksOf(tokens), O200K_TOKEN_SPLIT_REGEX);
}

/** A token stands at its rank, as text or, where it is not text by itself, as bytes. */
async function ranksOf(tokens: readonly (string | readonly number[])[]): Promise<Ranks> {
  const ranks = new Map<string, number>();
  const turns = new Turns();
  for (const [rank, token] of tokens.entries()) {
    if (rank % 5_000 === 0) await turns.next();
    if (token !== undefined) ranks.set(typeof token === 'string' ? asBytes(token) : Buffer.from(token).toString('latin1'), rank);
  }
  return ranks;
}
