/** What the address of the list holds: nothing chosen means all of them. */
export interface OverlapSearch {
  status?: 'open';
  /** The warning whose panel is open. */
  warning?: string;
}

export const overlapSearch = ({ status, warning }: Record<string, unknown>): OverlapSearch => ({
  ...(status === 'open' && { status }),
  ...(typeof warning === 'string' && { warning }),
});
