const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const CENT = 0.01;

export const dollars = (usd: number): string => (usd > 0 && usd < CENT ? `<${DOLLARS.format(CENT)}` : DOLLARS.format(usd));

/** `$2.80`; `$2.80+` if a part has no known price; a dash if no price is known. */
export const costWords = ({ cost_usd, unpriced }: { cost_usd: number | null; unpriced: number }): string =>
  cost_usd === null ? '—' : `${dollars(cost_usd)}${unpriced > 0 ? '+' : ''}`;

/** The cost of an agent; a dash if it reported no usage. */
export const spentWords = (cost: { usd: number | null; unpriced: number } | null): string =>
  cost === null ? '—' : costWords({ cost_usd: cost.usd, unpriced: cost.unpriced });
