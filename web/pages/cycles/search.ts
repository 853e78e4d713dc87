/** What the address of a cycle holds. */
export interface CycleSearch {
  /** The number of the handoff whose panel is open. */
  handoff?: number;
  /** The whole of it, instead of what has changed since the one before. */
  whole?: true;
}

export const cycleSearch = ({ handoff, whole }: Record<string, unknown>): CycleSearch => ({
  ...(typeof handoff === 'number' && Number.isInteger(handoff) && handoff > 0 && { handoff }),
  ...(whole === true && { whole }),
});
