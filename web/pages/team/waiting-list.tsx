import { Link } from '@tanstack/react-router';
import { type RefObject, useEffect, useRef } from 'react';
import type { WaitingItem } from '../../api.ts';
import { PanelList, Problem, Section, State } from '../../parts/layout.tsx';
import { TableSkeleton } from '../../parts/loaded.tsx';
import { counted, escapeBidi, PathLink, Time, Until, UntrustedText } from '../../parts/values.tsx';
import { NoticeSwitch } from './notices.tsx';
import { sentenceOf, type useWaiting, WAITING_KINDS } from './waiting.ts';

/** Lists everything that waits for a decision by the signed-in person. */
export function WaitingList({ items, isRead, isCut, error, refetch, isOpen }: ReturnType<typeof useWaiting> & { isOpen: boolean }) {
  const list = useRef<HTMLDivElement>(null);
  useFocusKept(list, items, isOpen);
  return (
    <Section
      title="Waiting on you"
      about={
        <span className="flex flex-wrap items-center gap-x-3">
          {items.length > 0 && `${isCut ? 'more than ' : ''}${counted(items.length, 'item')}`}
          <NoticeSwitch />
        </span>
      }
    >
      {error && <Problem what="The items waiting on you could not be loaded." error={error} onRetry={() => void refetch()} />}
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

function Item({ item }: { item: WaitingItem }) {
  const { id, kind, who, since, deadline, pressing } = item;
  const { label, button } = WAITING_KINDS[kind];
  const opens = WAITING_KINDS[kind].opens(id);
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
            due <Until at={deadline} />
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

/** If the focused or open item disappears from the list, moves the focus to the next item. If the list is empty, moves it to the list itself. */
function useFocusKept(list: RefObject<HTMLElement | null>, items: readonly WaitingItem[], isOpen: boolean): void {
  const held = useRef(false);
  useEffect(() => {
    const note = ({ target }: FocusEvent) => {
      held.current = target instanceof HTMLElement && (list.current?.contains(target) === true || target.closest('dialog') !== null);
    };
    document.addEventListener('focusin', note);
    return () => document.removeEventListener('focusin', note);
  }, [list]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the effect must run when the list changes or the panel closes
  useEffect(() => {
    if (isOpen || !held.current || (document.activeElement !== null && document.activeElement !== document.body)) return;
    (list.current?.querySelector<HTMLElement>('[data-waiting] a') ?? list.current)?.focus();
  }, [list, items, isOpen]);
}
