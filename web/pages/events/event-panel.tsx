import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { call, type EventView } from '../../api.ts';
import { ActorName } from '../../parts/actor-name.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Facts, type FactValues } from '../../parts/facts.tsx';
import { Section, State } from '../../parts/layout.tsx';
import { SearchLink } from '../../parts/page-search.tsx';
import { ReadPanel } from '../../parts/side-panel.tsx';
import { PathLink, shortId, Time, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import type { EventSearch } from '../../search.ts';
import { deniedEditIn, deniedWords } from './denied-edit.ts';
import { durationOf, Outcome, outcomeOf, Subject } from './event-words.tsx';
import { RefusalCard, stepOf } from './refusal.tsx';

/** If the kind of an event is longer than this, it is not used as the title of the panel. */
const LONGEST_TITLE = 120;

/** Shows everything that the journal contains about one event. */
export function EventPanel({ seq, onClose }: { seq: number; onClose: () => void }) {
  // The previous event is read too, because its hash is part of this event's hash.
  const read = useRead('events.list', { after: Math.max(0, seq - 2), limit: 2 }, { ignoreEvents: true });
  const event = read.data?.items.find((each) => each.seq === seq);
  const anchor = read.data?.anchor;
  const previous = seq - 1 === anchor?.seq ? anchor.hash : read.data?.items.find((each) => each.seq === seq - 1)?.hash;
  return (
    <ReadPanel
      what="The event"
      title={event && event.kind.length <= LONGEST_TITLE ? event.kind : `Event ${seq}`}
      query={read}
      value={event}
      missing={
        read.data && (
          <p>
            Event {seq.toLocaleString()} does not exist. The journal{' '}
            {seq > read.data.head.seq
              ? `ends at event ${read.data.head.seq.toLocaleString()}`
              : `was pruned up to event ${read.data.anchor.seq.toLocaleString()}`}
            .
          </p>
        )
      }
      onClose={onClose}
    >
      {(shown) => read.data && <Details event={shown} previous={previous} begin={read.data.anchor.seq + 1} end={read.data.head.seq} />}
    </ReadPanel>
  );
}

function Details({ event, previous, begin, end }: { event: EventView; previous: string | undefined; begin: number; end: number }) {
  const { seq, payload } = event;
  return (
    <div className="grid gap-5" data-id={seq}>
      <div className="flex flex-wrap gap-2">
        <CopyButton text={`${location.origin}/activity?event=${seq}`} label="Copy link" />
        {seq > begin && (
          <SearchLink set={{ event: seq - 1 }} replace className="button">
            Previous
          </SearchLink>
        )}
        {seq < end && (
          <SearchLink set={{ event: seq + 1 }} replace className="button">
            Next
          </SearchLink>
        )}
      </div>
      <Refused event={event} />
      <Facts facts={factsOf(event)} />
      <NamedObjects event={event} />
      <Section title="Payload">
        <pre className="mono panel bg-surface p-3 whitespace-pre-wrap">
          <UntrustedText text={JSON.stringify(payload, null, 2)} />
        </pre>
      </Section>
      <Hashes event={event} previous={previous} />
    </div>
  );
}

const factsOf = (event: EventView): FactValues => ({
  Event: event.seq,
  Time: (
    <>
      <Time at={event.time} /> · {new Date(event.time).toISOString()}
    </>
  ),
  Category: event.category,
  Kind: <UntrustedText text={event.kind} />,
  Actor: (
    <Beside>
      <ActorName actor={event.actor} />
      <Only what="Filter by actor" filter={{ actor: event.actor }} />
    </Beside>
  ),
  Subject: event.subject && (
    <Beside>
      <span className="min-w-0">
        <Subject subject={event.subject} />
      </span>
      <Only what="Filter by subject" filter={{ subject: event.subject }} />
    </Beside>
  ),
  Session: event.session && (
    <Beside>
      <code>
        <UntrustedText text={event.session} brief />
      </code>
      <Only what="Filter by session" filter={{ session: event.session }} />
    </Beside>
  ),
  Outcome: <Outcome event={event} />,
  Duration: durationOf(event),
});

function Beside({ children }: { children: ReactNode }) {
  return <span className="flex flex-wrap items-baseline gap-x-3">{children}</span>;
}

/** A link to the list of events, with a filter for similar events. */
function Only({ what, filter }: { what: string; filter: EventSearch }) {
  return (
    <Link to="/activity" search={filter} className="link text-label">
      {what}
    </Link>
  );
}

/** Shows the message that the refused caller received, if the viewer may read it. */
function Refused({ event }: { event: EventView }) {
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

function Hashes({ event: { seq, hash }, previous }: { event: EventView; previous: string | undefined }) {
  const check = useRead(
    'events.verify',
    { after: seq - 1, ...(previous !== undefined && { previous }), limit: 1 },
    { ignoreEvents: true, enabled: previous !== undefined },
  );
  const broken = check.data?.first_break?.seq === seq ? check.data.first_break.reason : undefined;
  return (
    <Section
      title="Hashes"
      about={check.data && (broken === undefined ? <State tone="good">matches the previous event</State> : <State tone="bad">{broken}</State>)}
    >
      <Facts facts={{ 'This event': <code>{hash}</code>, 'Previous event': previous ? <code>{previous}</code> : null }} />
    </Section>
  );
}

/** The maximum number of ids in one event for which links are looked up. */
const MAX_LOOKUPS = 8;
const IDS = /\b[a-z]+_[0-9A-Z]{20,}\b/g;

/** Links to the objects whose ids appear in the event. */
function NamedObjects({ event }: { event: EventView }) {
  const ids = idsIn(event);
  const objects = useQueries({
    queries: ids.map((id) => ({
      queryKey: ['lookup.find', { text: id, limit: 1 }],
      queryFn: ({ signal }: { signal: AbortSignal }) => call('lookup.find', { text: id, limit: 1 }, signal),
    })),
  }).flatMap(({ data }) => data?.items ?? []);
  if (objects.length === 0) return null;
  return (
    <Section title="Related objects">
      <ul className="grid gap-1">
        {objects.map(({ kind, id, title, path }) => (
          <li key={id} className="flex flex-wrap items-baseline gap-x-2">
            <span className="text-muted">{kind}</span>
            <PathLink path={path} className="link min-w-0">
              <UntrustedText text={title || shortId(id)} brief />
            </PathLink>
            <span className="mono text-muted">{shortId(id)}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/**
 * Returns the ids in an event that can be looked up. An instance is recognized by the text `instance:` before its id, all other objects by the form of their
 * ids.
 */
function idsIn({ subject, actor, payload }: EventView): string[] {
  const instances = [subject, actor].flatMap((text) => /^instance:(.+)$/.exec(text ?? '')?.[1] ?? []);
  const ids = [subject ?? '', JSON.stringify(payload)].flatMap((text) => text.match(IDS) ?? []);
  return [...new Set([...instances, ...ids])].filter((id) => !/^(req|dev|ses)_/.test(id)).slice(0, MAX_LOOKUPS);
}
