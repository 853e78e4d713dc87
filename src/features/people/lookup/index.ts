import { beginning } from '../../../kernel/excerpt.ts';
import { ok } from '../../../kernel/reply.ts';
import { type Feature, type Implementation, implement } from '../../../kernel/tool.ts';
import { readAnchor, readHead } from '../../../storage/journal.ts';
import { find } from './contract.ts';
import { PLACES } from './places.ts';
import { findByText } from './store.ts';

export { PLACES } from './places.ts';

const TITLE_SHOWN = 200;
const EVENT = /^#?([1-9][0-9]{0,14})$/;

const lookupTools: Implementation[] = [
  implement(find, {
    read: async ({ text, limit }, { reader, workspace, principal }) => {
      const found = await findByText(reader, principal, text, limit);
      const items = found.map(({ kind, id, title, within }) => ({ kind, id, title: beginning(title, TITLE_SHOWN), path: PLACES[kind](id, within) }));
      const seq = EVENT.exec(text)?.[1];
      if (seq === undefined || Number(seq) > ((await readHead(reader, workspace))?.seq ?? 0)) return ok({ items });
      if (Number(seq) <= (await readAnchor(reader, workspace)).seq) return ok({ items });
      return ok({ items: [{ kind: 'event' as const, id: seq, title: `Event ${seq}`, path: PLACES.event(seq, '') }, ...items] });
    },
  }),
];

export const lookup: Feature = { name: 'lookup', implementations: lookupTools };
