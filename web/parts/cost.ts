const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const CENT = 0.01;

export const dollars = (usd: number): string => (usd > 0 && usd < CENT ? `<${DOLLARS.format(CENT)}` : DOLLARS.format(usd));

/** Formats a cost, such as `$2.80`. If a part of the usage has no known price, the result is `$2.80+`. If no price is known, it is a dash. */
export const costWords = ({ cost_usd, unpriced }: { cost_usd: number | null; unpriced: number }): string =>
  cost_usd === null ? '—' : `${dollars(cost_usd)}${unpriced > 0 ? '+' : ''}`;

/** Formats the cost of an agent. The result is a dash if the agent has reported no usage. */
export const spentWords = (cost: { usd: number | null; unpriced: number } | null): string =>
  cost === null ? '—' : costWords({ cost_usd: cost.usd, unpriced: cost.unpriced });
