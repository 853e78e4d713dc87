import { Link } from '@tanstack/react-router';
import { type RefObject, useEffect, useRef } from 'react';
import type { WaitingItem } from '../../api.ts';
import { PanelList, Problem, Section, State } from '../../parts/layout.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { counted, escapeBidi, PathLink, Time, Until, UntrustedText } from '../../parts/values.tsx';
import { prefer, usePreferences } from '../../preferences.ts';
import { useRead } from '../../queries.ts';
import type { NowSearch } from '../../search.ts';

/** What waits ends by time too, which no event tells. */
const LOOK_MS = 30_000;

export function useWaiting() {
  const { data, error, refetch } = useRead('waiting.list', {}, { everyMs: LOOK_MS });
  return { items: data?.items ?? [], isRead: data !== undefined || error !== null, isCut: data?.cut === true, error, refetch };
}

/** Everything that needs this person, in one list. */
export function WaitingList({ items, isRead, isCut, error, refetch, isOpen }: ReturnType<typeof useWaiting> & { isOpen: boolean }) {
  const list = useRef<HTMLDivElement>(null);
  useFocusKept(list, items, isOpen);
  return (
    <Section
      title="Waiting on you"
      about={
        <span className="flex flex-wrap items-center gap-x-3">
          {items.length > 0 && `${isCut ? 'more than ' : ''}${counted(items.length, 'thing')}`}
          <NoticeSwitch />
        </span>
      }
    >
      {error && <Problem what="What waits on you could not be read." error={error} onRetry={() => void refetch()} />}
      <section ref={list} tabIndex={-1} aria-label="What waits on you" className="outline-none">
        {!isRead && items.length === 0 ? (
          <div className="panel">
            <TableSkeleton />
          </div>
        ) : (
          (items.length > 0 || error === null) && (
            <PanelList items={items} empty="Nothing waits on you.">
              {(item) => <Item key={item.id} item={item} />}
            </PanelList>
          )
        )}
      </section>
    </Section>
  );
}

interface WaitingKind {
  readonly label: string;
  readonly button: string;
  /** Opened beside the list, or on a page of its own. */
  readonly opens: (id: string) => NowSearch | string;
  /** Said after the sentence. */
  readonly hint?: (id: string) => string;
}

const KINDS: Record<WaitingItem['kind'], WaitingKind> = {
  question: { label: 'question', button: 'Answer', opens: (id) => ({ question: id }) },
  call: { label: 'held call', button: 'Decide', opens: (id) => ({ approval: id }) },
  ask: { label: 'ask', button: 'Answer', opens: (id) => ({ ask: id }) },
  handoff: { label: 'handoff', button: 'Open', opens: (id) => `/messages?message=${id}` },
  review: { label: 'spent review', button: 'Decide', opens: (id) => `/reviews/${id}`, hint: () => ': allow one more, take it as it is, or give it up' },
  overlap: { label: 'overlap', button: 'Judge', opens: (id) => ({ overlap: id }) },
  definition: { label: 'changed tool', button: 'Look', opens: () => '/tools/changes' },
  device: {
    label: 'device',
    button: 'Look',
    opens: (code) => `/setup/authorize?code=${encodeURIComponent(code)}`,
    hint: (code) => `, with the code ${code}`,
  },
};

const sentenceOf = ({ kind, id, sentence }: WaitingItem): string => sentence + (KINDS[kind].hint?.(id) ?? '');

function Item({ item }: { item: WaitingItem }) {
  const { id, kind, who, since, deadline, pressing } = item;
  const { label, button } = KINDS[kind];
  const opens = KINDS[kind].opens(id);
  const sentence = sentenceOf(item);
  const name = escapeBidi(`${button}: ${who ?? ''} ${sentence.slice(0, 80)}`);
  return (
    <li
      data-row
      data-waiting
      data-id={id}
      className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 gap-y-1 px-3 py-2 has-[[aria-current]]:bg-live-tint sm:grid-cols-[8rem_minmax(0,1fr)_auto_auto]"
    >
      <span>
        <State tone={pressing ? 'wait' : 'you'}>{label}</State>
      </span>
      <p className="max-sm:order-3 max-sm:col-span-2">
        {who !== null && (
          <strong className="font-medium">
            <UntrustedText text={who} />{' '}
          </strong>
        )}
        <UntrustedText text={sentence} brief />
      </p>
      <span className="text-right text-label text-muted">
        {since !== null && <Time at={since} />}
        {deadline !== null && (
          <span className="block">
            ends <Until at={deadline} />
          </span>
        )}
      </span>
      <span className="max-sm:order-4 max-sm:col-span-2">
        {typeof opens === 'string' ? (
          <PathLink path={opens} className="button w-full min-w-20" label={name}>
            {button}
          </PathLink>
        ) : (
          <Link
            to="/"
            search={opens}
            resetScroll={false}
            className="button w-full min-w-20"
            aria-label={name}
            activeOptions={{ includeSearch: true, exact: true }}
          >
            {button}
          </Link>
        )}
      </span>
    </li>
  );
}

/** What was opened or had the focus is done and gone from the list: the next one gets the focus, or the list itself. */
function useFocusKept(list: RefObject<HTMLElement | null>, items: readonly WaitingItem[], isOpen: boolean): void {
  const held = useRef(false);
  useEffect(() => {
    const note = ({ target }: FocusEvent) => {
      held.current = target instanceof HTMLElement && (list.current?.contains(target) === true || target.closest('dialog') !== null);
    };
    document.addEventListener('focusin', note);
    return () => document.removeEventListener('focusin', note);
  }, [list]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked at whenever the list has changed or what was open is closed
  useEffect(() => {
    if (isOpen || !held.current || (document.activeElement !== null && document.activeElement !== document.body)) return;
    (list.current?.querySelector<HTMLElement>('[data-waiting] a') ?? list.current)?.focus();
  }, [list, items, isOpen]);
}

const canNotify = (): boolean => typeof Notification !== 'undefined' && Notification.permission !== 'denied';

/** The browser asks for leave itself, and only who has turned this on is asked. */
function NoticeSwitch() {
  const { notices } = usePreferences();
  if (!canNotify()) return null;
  const turn = async (on: boolean): Promise<void> => {
    const allowed = on && (Notification.permission === 'granted' || (await Notification.requestPermission()) === 'granted');
    prefer({ notices: allowed });
  };
  return (
    <label className="flex items-center gap-1.5 text-label pointer-coarse:min-h-11">
      <input type="checkbox" checked={notices} onChange={({ target }) => void turn(target.checked)} />
      Browser notices
    </label>
  );
}

/** Tells of what is new while the page is not looked at. What was there when it was opened is no news. */
export function useNotices(items: readonly WaitingItem[], isRead: boolean): void {
  const { notices } = usePreferences();
  const known = useRef<ReadonlySet<string>>(undefined);
  useEffect(() => {
    if (!isRead) return;
    const before = known.current;
    known.current = new Set(items.map(({ id }) => id));
    if (!before || !notices || !document.hidden || !canNotify() || Notification.permission !== 'granted') return;
    const fresh = items.filter(({ id }) => !before.has(id));
    const [first] = fresh;
    if (!first) return;
    const more = fresh.length > 1 ? ` and ${fresh.length - 1} more` : '';
    const notice = new Notification('Covenant: waiting on you', {
      body: `${first.who ?? ''} ${sentenceOf(first).slice(0, 200)}${more}`.trim(),
      tag: 'covenant-waiting',
    });
    notice.onclick = () => {
      window.focus();
      notice.close();
    };
  }, [items, isRead, notices]);
}
