/** What the address of the list holds: nothing chosen means those that are not over. */
export interface ReviewSearch {
  show?: 'all';
  /** The one whose panel is open. */
  instance?: string;
}

export const reviewSearch = ({ show, instance }: Record<string, unknown>): ReviewSearch => ({
  ...(show === 'all' && { show }),
  ...(typeof instance === 'string' && { instance }),
});
