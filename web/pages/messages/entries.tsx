import type { ShownThread } from '../../api.ts';
import { AgentName } from '../../parts/agent-name.tsx';
import { counted } from '../../parts/count.ts';
import { UntrustedText } from '../../parts/said.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { HIDDEN } from './status.ts';

type Entry = ShownThread['entries'][number];
type Recipient = ShownThread['recipients'][number];

/** In the order in which it was said. */
export function Entries({ entries, cut }: { entries: readonly Entry[]; cut: number }) {
  return (
    <>
      {cut > 0 && <p className="text-muted">{counted(cut, 'earlier message')} left out.</p>}
      <ol className="grid gap-2">
        {entries.map((entry) => (
          <li key={entry.id} className={entry.what === 'reminder' ? 'px-3 text-muted' : 'panel grid gap-1 px-3 py-2'}>
            {entry.what === 'reminder' ? <Reminder entry={entry} /> : <Words entry={entry} />}
          </li>
        ))}
      </ol>
    </>
  );
}

function Words({ entry: { from, to, at, text, delivered_at, read_at, what } }: { entry: Entry }) {
  return (
    <>
      <p className="flex flex-wrap items-baseline gap-x-2 text-label text-muted">
        <span className="font-medium text-text">
          <AgentName name={from.name} id={from.agent_id} brief={false} />
        </span>
        {to && (
          <span>
            {what === 'answer' ? 'answers ' : 'to '}
            <AgentName name={to.name} id={to.agent_id} brief={false} />
          </span>
        )}
        <span className="ml-auto">
          {read_at !== null ? 'read' : delivered_at !== null ? 'delivered' : 'sent'} · <Time at={at} />
        </span>
      </p>
      <div>{text === null ? <em className="text-muted">{HIDDEN}</em> : <UntrustedText text={text} />}</div>
    </>
  );
}

function Reminder({ entry: { from, at } }: { entry: Entry }) {
  return (
    <p className="text-label">
      <span aria-hidden="true">↻ </span>
      <UntrustedText text={from.name} /> reminded of it · <Time at={at} />
    </p>
  );
}

/** Who has a broadcast, and who has read it. */
export function Recipients({ recipients, of }: { recipients: readonly Recipient[]; of: number }) {
  return (
    <>
      <ul className="panel divide-y divide-line">
        {recipients.map(({ to, delivered_at, read_at }, index) => (
          // Agents of private developers all have the same name.
          // biome-ignore lint/suspicious/noArrayIndexKey: they stand in the order in which it was sent to them
          <li key={index} className="flex flex-wrap items-center gap-x-3 px-3 py-1.5">
            <span className="min-w-0 flex-1">
              <AgentName name={to.name} id={to.agent_id} />
            </span>
            <span className="text-label text-muted">{(read_at ?? delivered_at) !== null && <Time at={(read_at ?? delivered_at) as number} />}</span>
            <State tone={read_at !== null || delivered_at !== null ? 'live' : 'quiet'}>
              {read_at !== null ? 'read' : delivered_at !== null ? 'delivered' : 'sent'}
            </State>
          </li>
        ))}
      </ul>
      {of > recipients.length && (
        <p className="text-muted">
          The first {recipients.length} of {of}.
        </p>
      )}
    </>
  );
}
