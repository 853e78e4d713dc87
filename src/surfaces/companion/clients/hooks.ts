import { type ClientName, quoted } from '../../../features/core/devices/connections.ts';
import type { HookEvent } from '../../../wire/hook-question.ts';
import { HOOK_CLIENTS } from '../../hooks/clients/index.ts';
import type { Entry } from '../edit/entry.ts';
import type { Setting } from './client.ts';

/** How a client's hooks are written down. */
export interface HookStyle {
  readonly client: ClientName;
  /** How it names the top of the repository to a hook's shell. */
  readonly top?: string;
  /** Tools that can write, as the client names them. The others are not asked about before they run. */
  readonly writing: string;
  /** In seconds, where it is not `TIMEOUT_S`. */
  readonly timeouts?: Readonly<Partial<Record<HookEvent, number>>>;
  /** An element of the list of an event. */
  readonly element: (hook: { readonly matcher?: string; readonly command: string; readonly event: HookEvent; readonly timeout: number }) => unknown;
}

/** Longer than the companion waits for the server. */
const TIMEOUT_S = 15;

/** A hook for each event that the client has. */
export function hookEntries({ client, top, writing, timeouts, element }: HookStyle, { programs, origin }: Setting): Entry[] {
  return Object.entries(HOOK_CLIENTS[client]?.events ?? {}).map(([event, native]) => ({
    kind: 'item',
    what: `${native} hook`,
    list: ['hooks', native],
    ours: oursOf(client),
    value: element({
      event: event as HookEvent,
      command: `${programs.companion(top)} hook ${client} ${event} --base-url ${quoted(origin)}`,
      timeout: timeouts?.[event as HookEvent] ?? TIMEOUT_S,
      ...(event === 'before-tool' && { matcher: writing }),
    }),
  }));
}

/** What setup has ever written as a hook of this client. */
export const oursOf = (client: ClientName): string => `covibe-local\\S*['"]? hook ${client}\\b|/api/hooks/${client}/`;
