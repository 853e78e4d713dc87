import { useMutation } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { type ReactNode, useEffect, useEffectEvent, useMemo, useState } from 'react';
import { ticketed } from '../../api.ts';
import { useJournal } from '../../live/context.tsx';
import { FormDialog } from '../../parts/actions.tsx';
import { CliCommand } from '../../parts/command.tsx';
import { Filter } from '../../parts/field.tsx';
import { Problem, Section, type Tone, Views } from '../../parts/layout.tsx';
import { usePageSearch } from '../../parts/page-search.tsx';
import { TimeChart } from '../../parts/time-chart.tsx';
import { useRead } from '../../queries.ts';
import { type EventSearch, eventFilter } from '../../search.ts';
import { ChainStrip } from './chain.tsx';
import { EventList } from './event-list.tsx';
import { EventPanel } from './event-panel.tsx';
import { CATEGORIES, type Category, OUTCOMES } from './event-words.tsx';

/** What happened, as it happens. */
export function Events() {
  const [search, change] = usePageSearch('/activity/');
  const filter = eventFilter({ ...search });
  return (
    <>
      <title>Activity · Covenant</title>
      <Pictures>
        <Rate chart={search.chart} onChoose={(chart) => void change({ chart })} />
        <ChainStrip />
      </Pictures>
      <EventFilters filter={filter} onChange={(part) => void change(part, { replace: true })} />
      <EventList key={JSON.stringify(filter)} filter={filter} />
      {search.event !== undefined && <EventPanel key={search.event} seq={search.event} onClose={() => void change({ event: undefined })} />}
      <Announcer />
    </>
  );
}

/** On a small screen the list comes first: they are shown on request. */
function Pictures({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState(false);
  return (
    <>
      <button type="button" className="button mb-3 sm:hidden" aria-expanded={shown} onClick={() => setShown(!shown)}>
        {shown ? 'Hide' : 'Show'} events per minute and chain
      </button>
      <div className={`grid gap-x-6 gap-y-3 lg:grid-cols-[minmax(0,1fr)_20rem] ${shown ? '' : 'max-sm:hidden'}`}>{children}</div>
    </>
  );
}

const TONES: Record<Category, Tone> = { usage: 'live', work: 'good', feedback: 'wait', audit: 'quiet' };
const SPANS = {
  hour: { minutes: 60, step: 1, title: 'Events per minute' },
  day: { minutes: 24 * 60, step: 15, title: 'Events per quarter of an hour' },
} as const;
/** New minutes begin without an event that would tell. */
const EVERY_MS = 15_000;

/** How much happened when, whatever the list is narrowed to. */
function Rate({ chart, onChoose }: { chart: 'day' | undefined; onChoose: (chart: 'day' | undefined) => void }) {
  const { minutes, step, title } = SPANS[chart ?? 'hour'];
  const rate = useRead('events.rate', { minutes, step }, { everyMs: EVERY_MS });
  const { data } = rate;
  const series = useMemo(() => data && CATEGORIES.map(([category, label]) => ({ label, tone: TONES[category], values: data.counts[category] ?? [] })), [data]);
  return (
    <Section title={title} about={<Filter label="Of the last" otherwise="hour" choices={[['day', 'day']] as const} chosen={chart} onChoose={onChoose} />}>
      {rate.error && <Problem what="The events could not be counted." error={rate.error} onRetry={() => void rate.refetch()} />}
      {data && series ? (
        <TimeChart label={title} times={data.times} series={series} unit="event" height={96} />
      ) : (
        !rate.error && <div className="skeleton h-36" role="status" aria-label="Loading" />
      )}
    </Section>
  );
}

const TEXT_FIELDS = ['text', 'kind', 'actor', 'subject', 'session'] as const;

const LABELS: Record<(typeof TEXT_FIELDS)[number], { label: string; hint: string }> = {
  text: { label: 'Text', hint: 'in kind, subject or payload' },
  kind: { label: 'Kind', hint: 'task.' },
  actor: { label: 'Actor', hint: 'codex@mira' },
  subject: { label: 'Subject', hint: 'tool:clock' },
  session: { label: 'Session', hint: 'ses_…' },
};

/** What the list is narrowed to. All of it is asked of the whole journal, by the server. */
function EventFilters({ filter, onChange }: { filter: EventSearch; onChange: (part: EventSearch) => void }) {
  const active = Object.keys(filter).length;
  const [opened, setOpened] = useState(false);
  // On a small screen the list comes first.
  const more = opened || active > Number(filter.text !== undefined);
  const outcomes = OUTCOMES.map((outcome) => [outcome, outcome] as const);
  const known = filter.outcome === undefined || outcomes.some(([outcome]) => outcome === filter.outcome);
  const field = (name: (typeof TEXT_FIELDS)[number]) => (
    <TextFilter
      key={name}
      {...LABELS[name]}
      value={filter[name] ?? ''}
      isFirst={name === 'text'}
      onChange={(value) => onChange({ [name]: value || undefined })}
    />
  );
  return (
    <search aria-label="Filter the events" className="mt-4 flex flex-wrap items-center gap-x-4 gap-y-2 max-sm:mt-0">
      {field('text')}
      {!more && (
        <button type="button" className="button sm:hidden" onClick={() => setOpened(true)}>
          More filters
        </button>
      )}
      <div className={`flex flex-wrap items-center gap-x-4 gap-y-2 sm:contents ${more ? '' : 'max-sm:hidden'}`}>
        {TEXT_FIELDS.filter((name) => name !== 'text').map(field)}
        <Filter label="Category" otherwise="All" choices={CATEGORIES} chosen={filter.category} onChoose={(category) => onChange({ category })} />
        <Filter
          label="Outcome"
          otherwise="Any"
          choices={known ? outcomes : [...outcomes, [filter.outcome ?? '', filter.outcome ?? ''] as const]}
          chosen={filter.outcome}
          onChoose={(outcome) => onChange({ outcome })}
        />
      </div>
      {active > 0 && (
        <button type="button" className="button" onClick={() => onChange(Object.fromEntries(Object.keys(filter).map((name) => [name, undefined])))}>
          Clear {active === 1 ? 'filter' : `${active} filters`}
        </button>
      )}
      <ExportLink filter={filter} />
    </search>
  );
}

const SETTLED_MS = 350;

interface TextFilterProps {
  label: string;
  hint: string;
  value: string;
  isFirst: boolean;
  onChange: (value: string) => void;
}

/** Takes effect once the typing rests. */
function TextFilter({ label, hint, value, isFirst, onChange }: TextFilterProps) {
  const [typed, setTyped] = useState(value);
  const [told, setTold] = useState(value);
  // The address was changed elsewhere: by a link, or the way back.
  if (told !== value) {
    setTold(value);
    setTyped(value);
  }
  const tell = useEffectEvent(() => typed.trim() !== value && onChange(typed.trim()));
  useEffect(() => {
    if (typed.trim() === value) return undefined;
    const timer = setTimeout(tell, SETTLED_MS);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return (
    <label className={`flex items-center gap-2 text-muted ${isFirst ? 'max-sm:w-full' : 'max-sm:w-[calc(50%-0.5rem)]'}`}>
      {label}
      <input
        type="search"
        className={`field min-w-0 text-text ${isFirst ? 'sm:w-56' : 'sm:w-36'}`}
        data-filter={isFirst || undefined}
        placeholder={hint}
        maxLength={200}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </label>
  );
}

/** The events that the filter leaves, all of them, as a file. */
function ExportLink({ filter }: { filter: EventSearch }) {
  const [open, setOpen] = useState(false);
  const query = Object.fromEntries(Object.entries(filter)) as Record<string, string>;
  // The browser saves what comes and stays on this page.
  const download = useMutation({
    mutationFn: () => ticketed('/api/events/export', query),
    onSuccess: (address) => {
      setOpen(false);
      location.assign(address);
    },
  });
  return (
    <>
      <button type="button" className="button sm:ml-auto" onClick={() => setOpen(true)}>
        Export
      </button>
      {open && (
        <FormDialog
          title="Export events"
          submit="Download"
          cancel="Close"
          mutation={download}
          failed="The export was not started."
          onSubmit={() => download.mutate()}
          onClose={() => setOpen(false)}
        >
          <p>
            {Object.keys(query).length === 0 ? 'Every event of the journal' : 'Every event of the journal that fits the filter'}, one JSON object a line. People
            who are private stay so in it.
          </p>
          <CliCommand words="audit export" options={filter} />
        </FormDialog>
      )}
    </>
  );
}

const ANNOUNCE_MS = 5_000;

/** Tells a screen reader how much is new, at most every few seconds. */
function Announcer() {
  const newest = useJournal().state.events.at(-1)?.seq ?? 0;
  const [told, setTold] = useState({ upTo: newest, words: '' });
  const tell = useEffectEvent(() => {
    if (told.upTo === newest) return;
    const count = newest - told.upTo;
    // The first read is the page itself, not news.
    setTold({ upTo: newest, words: told.upTo === 0 ? '' : `${count} new ${count === 1 ? 'event' : 'events'}` });
  });
  useEffect(() => {
    const timer = setInterval(tell, ANNOUNCE_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <p role="status" className="sr-only">
      {told.words}
    </p>
  );
}

/** What happened, and whether it can be trusted. */
export function Activity() {
  return (
    <>
      <h1>Activity</h1>
      <Views
        label="Activity"
        views={[
          { to: '/activity', label: 'Events' },
          { to: '/activity/chain', label: 'Chain' },
        ]}
      />
      <Outlet />
    </>
  );
}
