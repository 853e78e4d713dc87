import type { ExternalServer, Withheld } from '../../api.ts';

/** A withheld definition with the server that it is of. */
export interface Change extends Withheld {
  readonly server: string;
}

export const changesOf = (servers: readonly ExternalServer[]): Change[] =>
  servers.flatMap(({ name, withheld }) => withheld.map((each) => ({ ...each, server: name })));

/** Nobody has said yes or no to it as it is now. */
export const isWaiting = ({ rejected, fingerprint }: Withheld): boolean => rejected === null && fingerprint !== '';

/** By which its address names it. Only the last part can have a slash in it. */
export const changeKey = ({ server, kind, name }: Pick<Change, 'server' | 'kind' | 'name'>): string => `${server}/${kind}/${name}`;

export const WHY: Record<Withheld['reason'], string> = {
  new: 'The server has it newly: nobody has approved it.',
  changed: 'It is not what was approved: the server has changed it.',
  renamed: 'It is another one under a new name.',
  gone: 'The server lists it no more. Approving forgets it and frees its name.',
  name_taken: 'Its name belongs to another tool, so it cannot be offered.',
  duplicate: 'The server lists two of this name; the first counts.',
  invalid: 'Its definition is not one, so it cannot be offered.',
};
