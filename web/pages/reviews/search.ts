import type { Instance } from '../../api.ts';

const TYPES = ['coding', 'review', 'planning'] as const satisfies readonly Instance['type'][];

/** What the address of the list holds: nothing chosen means those that are not over, of every type. */
export interface ReviewSearch {
  show?: 'all';
  type?: Instance['type'];
}

export const reviewSearch = ({ show, type }: Record<string, unknown>): ReviewSearch => {
  const known = TYPES.find((one) => one === type);
  return { ...(show === 'all' && { show }), ...(known && { type: known }) };
};

/** `text`: the screen as text, for who does not look at it. */
interface TerminalSearch {
  text?: true;
}

export const terminalSearch = ({ text }: Record<string, unknown>): TerminalSearch => (text === true ? { text } : {});

/** The file that is open. */
interface DiffSearch {
  path?: string;
}

export const diffSearch = ({ path }: Record<string, unknown>): DiffSearch => (typeof path === 'string' && path !== '' ? { path } : {});
