import type { ActionInput, CatalogueTool, Grant, Instance, RoleAction } from './api.ts';
import { CATEGORIES } from './pages/events/event-words.tsx';
import { KINDS, STATES } from './pages/messages/status.ts';
import { STATUSES } from './pages/tasks/status.ts';
import { TASK_CHOICES, WORKFLOW_CHOICES } from './pages/workflows/status.ts';

/** Parses one search parameter. Returns undefined if it is missing or not allowed. */
type Parameter<T> = (value: unknown) => T | undefined;
type Shape = Record<string, Parameter<unknown>>;
type Search<S extends Shape> = { [K in keyof S]?: Exclude<ReturnType<S[K]>, undefined> };

/** Builds a schema for search parameters. All other parameters in the address are dropped. */
const schema =
  <S extends Shape>(shape: S) =>
  (given: Record<string, unknown>): Search<S> =>
    Object.fromEntries(
      Object.entries(shape).flatMap(([name, read]) => {
        const value = read(given[name]);
        return value === undefined ? [] : [[name, value]];
      }),
    ) as Search<S>;

/** The router parses `123` and `true` as a number and a boolean, so they are converted back to text. */
const text: Parameter<string> = (value) => {
  const written = typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
  return written.trim() === '' ? undefined : written;
};
const shortText: Parameter<string> = (value) => text(value)?.slice(0, 200);
const positive: Parameter<number> = (value) => (typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined);
const flag: Parameter<true> = (value) => (value === true ? true : undefined);
const oneOf =
  <const T>(...values: readonly T[]): Parameter<T> =>
  (value) =>
    values.find((each) => each === value);
/** Accepts one of the choices of a filter. */
const choice = <T extends string>(choices: readonly (readonly [T, string])[]): Parameter<T> => oneOf(...choices.map(([value]) => value));

const MAX_TURNED = 100;
const texts: Parameter<string[]> = (value) => {
  const kept = Array.isArray(value) ? value.filter((each) => typeof each === 'string').slice(0, MAX_TURNED) : [];
  return kept.length > 0 ? kept : undefined;
};

/** Parameters of all pages. `repo` is the selected repository. */
export const rootSearch = schema({ repo: text });

/** Parameters of the page Now. One of them contains the id of the item that is open beside the list. */
export const nowSearch = schema({ question: text, approval: text, ask: text, overlap: text });

/**
 * Without `status`, all open tasks are listed. `before` is the row after which the list starts, as `<updated_at>.<task id>`. `task` is the task in the open
 * panel. `plan` opens the form.
 */
export const taskSearch = schema({ status: choice(STATUSES), mine: flag, owner: text, workstream: text, before: text, task: text, plan: flag });
export const claimSearch = schema({ mine: flag, before: text, claim: text });
/** `subject` limits the list to one task or workstream. `warning` is the overlap in the open panel. `audit` shows the audit. */
export const overlapSearch = schema({ status: oneOf('open'), level: oneOf('warn', 'escalated'), subject: text, before: text, warning: text, audit: flag });
/** The choices besides the default of 7 days. */
export const WEEK_SPANS = [14, 31] as const;
export const weekSearch = schema({ days: oneOf(...WEEK_SPANS) });

export const workflowsSearch = schema({ status: choice(WORKFLOW_CHOICES) });
/** `task` is the task in the open panel. */
export const workflowSearch = schema({ task: text });
/** `turned` lists the groups that the person has opened or folded. */
export const graphSearch = schema({ turned: texts });
/** `gaps` draws idle times to scale instead of folding them. */
export const timelineSearch = schema({ gaps: flag, as: oneOf('table') });
/** `text` is a part of a task's name. */
export const listSearch = schema({ status: choice(TASK_CHOICES), text: shortText });

/** By default, all open instances are listed. */
export const reviewSearch = schema({ show: oneOf('all'), type: oneOf<Instance['type']>('coding', 'review', 'planning') });
/** `text` shows the screen as text, for screen readers. */
export const terminalSearch = schema({ text: flag });
/** `path` is the file to show. */
export const diffSearch = schema({ path: text });

/** `handoff` is the number of the open handoff. `whole` shows all of it instead of the changes since the previous one. */
export const cycleSearch = schema({ handoff: positive, whole: flag });

/** `message` is the id of the open thread. */
export const messageSearch = schema({ kind: choice(KINDS), state: choice(STATES), mine: flag, message: text, broadcast: flag });

/** `tool` is the tool in the open panel. `who` (such as `developer:mira`) and `can` (a tool) fill in the access check. */
const toolState = oneOf<CatalogueTool['state']>('up', 'starting', 'down', 'withheld');
export const catalogueSearch = schema({ q: text, server: text, state: toolState, tool: text, who: text, can: text });
export const serverSearch = schema({ server: text });
/** `grant` is the grant in the open panel, or `new` for the form. `action` and `who` fill in the form. */
const grantStatus = oneOf<Grant['status']>('live', 'exhausted', 'expired', 'revoked');
export const grantSearch = schema({ grant: text, status: grantStatus, q: text, action: text, who: text });
/** `from` and `callers` are the positions of the first tool and the first token to show. */
export const matrixSearch = schema({ q: text, server: text, from: positive, callers: positive });
export const changeSearch = schema({ change: text, show: oneOf('rejected') });

/** The fields of the journal's filter. */
const EVENT_FILTER = { category: choice(CATEGORIES), text, kind: text, actor: text, subject: text, session: text, outcome: text };
export type EventSearch = Omit<ActionInput<'events.list'>, 'after' | 'before' | 'latest' | 'limit'>;
export const eventFilter: (given: Record<string, unknown>) => EventSearch = schema(EVENT_FILTER);
/** `event` is the event in the open panel. `chart` is the period of the chart, by default an hour. */
export const activitySearch = schema({ ...EVENT_FILTER, event: positive, chart: oneOf('day') });

/** By default, usage is grouped by agent over 30 days. `bars` sets how the bars are stacked. `prices` opens the dialog with the prices. */
export const usageSearch = schema({
  by: oneOf('day', 'task', 'developer'),
  days: oneOf(7, 90, 366),
  bars: oneOf('agent'),
  measure: oneOf('tokens'),
  prices: flag,
});

/** `create` moves the focus to the form. `token` is the token in the open panel. With `whose`, operators see the tokens of all developers. */
export const tokenSearch = schema({ create: flag, token: text, whose: oneOf('all') });
/** `cwd` is the folder of the repository. */
export const setupSearch = schema({ cwd: text });
export const roleSearch = schema({ needs: oneOf<RoleAction['access']>('member', 'operator', 'server', 'token') });
export const authorizeSearch = schema({ code: text });

export type NowSearch = ReturnType<typeof nowSearch>;
export type TaskSearch = ReturnType<typeof taskSearch>;
export type ReviewSearch = ReturnType<typeof reviewSearch>;
export type UsageSearch = ReturnType<typeof usageSearch>;
export type WorkflowsSearch = ReturnType<typeof workflowsSearch>;
export type ListSearch = ReturnType<typeof listSearch>;
export type GrantSearch = ReturnType<typeof grantSearch>;
export type MessageSearch = ReturnType<typeof messageSearch>;
