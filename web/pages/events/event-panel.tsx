import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { JournalEvent } from '../../api.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Problem } from '../../parts/problem.tsx';
import { RefusalCard, stepOf } from '../../parts/refusal-card.tsx';
import { Said } from '../../parts/said.tsx';
import { Section } from '../../parts/section.tsx';
import { Fact, Facts, SidePanel } from '../../parts/side-panel.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { dateOf } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import type { EventFilter } from '../../search.ts';
import { outcomeOf } from './category.ts';
import { Outcome, Subject } from './columns.tsx';
import { deniedEditIn, deniedWords } from './denied-edit.ts';
import { durationOf } from './duration.ts';
import { NamedObjects } from './named-objects.tsx';
import { Who } from './who.tsx';

/** A longer kind is nobody's name for anything. */
const LONGEST_TITLE = 120;

/** One event and all that the journal holds of it. */
export function EventPanel({ seq, onClose }: { seq: number; onClose: () => void }) {
  // With the one before it, whose hash is a part of its own.
  const read = useRead('events.list', { after: Math.max(0, seq - 2), limit: 2 }, { byTimeAlone: true });
  const event = read.data?.items.find((each) => each.seq === seq);
  const anchor = read.data?.anchor;
  const previous = seq - 1 === anchor?.seq ? anchor.hash : read.data?.items.find((each) => each.seq === seq - 1)?.hash;
  return (
    <SidePanel title={event && event.kind.length <= LONGEST_TITLE ? event.kind : `Event ${seq}`} onClose={onClose}>
      {read.error && <Problem what="The event could not be read." error={read.error} onRetry={() => void read.refetch()} />}
      {!read.data && !read.error && <TableSkeleton />}
      {read.data && !event && (
        <p>
          There is no event {seq.toLocaleString()}: the journal{' '}
          {seq > read.data.head.seq ? `ends at ${read.data.head.seq.toLocaleString()}` : `was pruned up to ${read.data.anchor.seq.toLocaleString()}`}.
        </p>
      )}
      {event && read.data && <Details event={event} previous={previous} begin={read.data.anchor.seq + 1} end={read.data.head.seq} />}
    </SidePanel>
  );
}

function Details({ event, previous, begin, end }: { event: JournalEvent; previous: string | undefined; begin: number; end: number }) {
  const { seq, time, category, kind, actor, subject, session, payload } = event;
  return (
    <div className="grid gap-5" data-id={seq}>
      <div className="flex flex-wrap gap-2">
        <CopyButton text={`${location.origin}/activity?event=${seq}`} label="Copy link" />
        {seq > begin && <Step to={seq - 1} label="Previous" />}
        {seq < end && <Step to={seq + 1} label="Next" />}
      </div>
      <Refused event={event} />
      <Facts>
        <Fact name="Event">{seq}</Fact>
        <Fact name="Time">
          {dateOf(time)} · <time dateTime={new Date(time).toISOString()}>{new Date(time).toISOString()}</time>
        </Fact>
        <Fact name="Category">{category}</Fact>
        <Fact name="Kind">
          <Said text={kind} />
        </Fact>
        <Fact name="Actor">
          <Beside>
            <Who actor={actor} />
            <Only what="Only theirs" filter={{ actor }} />
          </Beside>
        </Fact>
        <Fact name="Subject">
          {subject === null ? null : (
            <Beside>
              <span className="min-w-0">
                <Subject subject={subject} />
              </span>
              <Only what="Only on this" filter={{ subject }} />
            </Beside>
          )}
        </Fact>
        <Fact name="Session">
          {session === null ? null : (
            <Beside>
              <code>
                <Said text={session} brief />
              </code>
              <Only what="Only of this session" filter={{ session }} />
            </Beside>
          )}
        </Fact>
        <Fact name="Outcome">
          <Outcome event={event} />
        </Fact>
        <Fact name="Duration">{durationOf(event)}</Fact>
      </Facts>
      <NamedObjects event={event} />
      <Section title="Payload">
        <pre className="mono panel bg-surface p-3 whitespace-pre-wrap">
          <Said text={JSON.stringify(payload, null, 2)} />
        </pre>
      </Section>
      <Hashes event={event} previous={previous} />
    </div>
  );
}

function Beside({ children }: { children: ReactNode }) {
  return <span className="flex flex-wrap items-baseline gap-x-3">{children}</span>;
}

/** The list narrowed to what is like it. */
function Only({ what, filter }: { what: string; filter: EventFilter }) {
  return (
    <Link to="/activity" search={filter} className="link text-label">
      {what}
    </Link>
  );
}

function Step({ to, label }: { to: number; label: string }) {
  return (
    <Link from="/activity/" to="/activity" search={(all) => ({ ...all, event: to })} replace resetScroll={false} className="button">
      {label}
    </Link>
  );
}

/** What a refused caller was told, as far as the viewer may read it. */
function Refused({ event }: { event: JournalEvent }) {
  const { seq, time, kind, category, payload } = event;
  const edit = deniedEditIn(event);
  if (edit) return <RefusalCard refusal={{ ...deniedWords(edit), seq, time }} />;
  const word = outcomeOf(event)?.word ?? '';
  if (category !== 'usage' || !['denied', 'blocked', 'error', 'failed'].includes(word)) return null;
  const told = (payload.told ?? {}) as { message?: string; required_action?: string };
  const code = typeof payload.code === 'string' ? payload.code : null;
  return (
    <RefusalCard
      refusal={{ asked: kind, step: stepOf(word, code), code, message: told.message ?? null, required_action: told.required_action ?? null, seq, time }}
    />
  );
}

function Hashes({ event: { seq, hash }, previous }: { event: JournalEvent; previous: string | undefined }) {
  const check = useRead(
    'events.verify',
    { after: seq - 1, ...(previous !== undefined && { previous }), limit: 1 },
    { byTimeAlone: true, enabled: previous !== undefined },
  );
  const broken = check.data?.first_break?.seq === seq ? check.data.first_break.reason : undefined;
  return (
    <Section title="Hashes" about={check.data && (broken === undefined ? <State tone="good">fits the one before</State> : <State tone="bad">{broken}</State>)}>
      <Facts>
        <Fact name="Its own">
          <code>{hash}</code>
        </Fact>
        <Fact name="Before it">{previous && <code>{previous}</code>}</Fact>
      </Facts>
    </Section>
  );
}
