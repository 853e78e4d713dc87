import { Link } from '@tanstack/react-router';
import { Said } from '../../parts/said.tsx';
import { Section } from '../../parts/section.tsx';
import { Time } from '../../parts/time.tsx';
import { useRead } from '../../queries.ts';
import { deniedEditIn, writerOf } from '../events/denied-edit.ts';
import { Who } from '../events/who.tsx';

/** Of the events about the claim the last so many are looked at. */
const LOOKED_AT = 200;
const SHOWN = 10;

/** Whom the claim has kept from its files, the newest first. */
export function DeniedEdits({ claimId }: { claimId: string }) {
  const { data } = useRead('events.list', { subject: claimId, before: Number.MAX_SAFE_INTEGER, limit: LOOKED_AT });
  const denied = (data?.items ?? []).toReversed().flatMap((event) => {
    const edit = deniedEditIn(event);
    return edit ? [{ event, edit }] : [];
  });
  if (denied.length === 0) return null;
  return (
    <Section title="Denied edits" about="newest first">
      <ul className="panel divide-y divide-line">
        {denied.slice(0, SHOWN).map(({ event: { seq, time, actor }, edit }) => (
          <li key={seq} className="grid gap-0.5 px-3 py-2">
            <code className="wrap-anywhere">
              <Said text={edit.path} />
            </code>
            <p className="flex flex-wrap gap-x-2 text-muted">
              <Who actor={actor} />
              <Said text={writerOf(edit)} />
              <Time at={time} />
              <Link to="/activity" search={{ event: seq }} className="link ml-auto">
                Event {seq}
              </Link>
            </p>
          </li>
        ))}
      </ul>
      {denied.length > SHOWN && (
        <Link to="/activity" search={{ subject: claimId }} className="link">
          All that happened to this claim
        </Link>
      )}
    </Section>
  );
}
