import { useQueries } from '@tanstack/react-query';
import { call, type JournalEvent } from '../../api.ts';
import { shortId } from '../../parts/id.tsx';
import { PathLink } from '../../parts/path-link.tsx';
import { Said } from '../../parts/said.tsx';
import { Section } from '../../parts/section.tsx';

/** More in one event are not worth as many questions. */
const MOST = 8;
const IDS = /\b[a-z]+_[0-9A-Z]{20,}\b/g;

/** What the event speaks of, as far as it has a page. */
export function NamedObjects({ event }: { event: JournalEvent }) {
  const ids = idsIn(event);
  const found = useQueries({
    queries: ids.map((id) => ({
      queryKey: ['lookup.find', { text: id, limit: 1 }],
      queryFn: ({ signal }: { signal: AbortSignal }) => call('lookup.find', { text: id, limit: 1 }, signal),
    })),
  }).flatMap(({ data }) => data?.items ?? []);
  if (found.length === 0) return null;
  return (
    <Section title="Named in it">
      <ul className="grid gap-1">
        {found.map(({ kind, id, title, path }) => (
          <li key={id} className="flex flex-wrap items-baseline gap-x-2">
            <span className="text-muted">{kind}</span>
            <PathLink path={path} className="link min-w-0">
              <Said text={title || shortId(id)} brief />
            </PathLink>
            <span className="mono text-muted">{shortId(id)}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Instances have names, everything else an id by which it is known anywhere. */
function idsIn({ subject, actor, payload }: JournalEvent): string[] {
  const instances = [subject, actor].flatMap((text) => /^instance:(.+)$/.exec(text ?? '')?.[1] ?? []);
  const ids = [subject ?? '', JSON.stringify(payload)].flatMap((text) => text.match(IDS) ?? []);
  return [...new Set([...instances, ...ids])].filter((id) => !/^(req|dev|ses)_/.test(id)).slice(0, MOST);
}
