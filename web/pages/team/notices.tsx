import { useEffect, useRef } from 'react';
import type { WaitingItem } from '../../api.ts';
import { prefer, usePreferences } from '../../preferences.ts';
import { sentenceOf } from './waiting.ts';

const canNotify = (): boolean => typeof Notification !== 'undefined' && Notification.permission !== 'denied';

/** Turns browser notifications on and off. The browser asks for permission when the person turns them on. */
export function NoticeSwitch() {
  const { notices } = usePreferences();
  if (!canNotify()) return null;
  const turn = async (on: boolean): Promise<void> => {
    const allowed = on && (Notification.permission === 'granted' || (await Notification.requestPermission()) === 'granted');
    prefer({ notices: allowed });
  };
  return (
    <label className="flex items-center gap-1.5 text-label pointer-coarse:min-h-11">
      <input type="checkbox" checked={notices} onChange={({ target }) => void turn(target.checked)} />
      Browser notifications
    </label>
  );
}

/** Shows a browser notification for each new item while the page is hidden. Items that existed when the page was opened do not count as new. */
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
