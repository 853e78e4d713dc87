import type { IconName } from '../parts/icon.tsx';

/** The pages in the order in which the navigation shows them. `key`: pressing g and then this key opens the page. `bar`: shown in the bar of a small screen. */
export const PAGES = [
  { to: '/', label: 'Now', icon: 'now', key: 'n', bar: true, asks: 'What needs me, who is working, what changed?' },
  { to: '/tasks', label: 'Work', icon: 'work', key: 'w', bar: true, asks: 'Is somebody already doing this?' },
  { to: '/workflows', label: 'Workflows', icon: 'workflows', key: 'f', bar: false, asks: 'What is next, who works on it, and why is it stuck?' },
  { to: '/reviews', label: 'Reviews', icon: 'reviews', key: 'r', bar: false, asks: 'Who reviews this, and when does the review end?' },
  { to: '/cycles', label: 'Cycles', icon: 'cycles', key: 'c', bar: false, asks: 'Whose turn is it, since when, and what was handed over?' },
  { to: '/messages', label: 'Messages', icon: 'messages', key: 'm', bar: true, asks: 'Was my message seen?' },
  { to: '/tools', label: 'Tools', icon: 'tools', key: 't', bar: false, asks: 'Who may call what?' },
  { to: '/activity', label: 'Activity', icon: 'activity', key: 'a', bar: true, asks: 'What happened, and can I trust the journal?' },
  { to: '/usage', label: 'Usage', icon: 'usage', key: 'u', bar: false, asks: 'Who spent what?' },
  { to: '/settings', label: 'Settings', icon: 'settings', key: 's', bar: false, asks: 'Who is here, and what may they do?' },
] as const satisfies readonly { to: string; label: string; icon: IconName; key: string; bar: boolean; asks: string }[];

export type PagePath = (typeof PAGES)[number]['to'];
