import type { ActionInput, CatalogueTool, Grant, Instance, RoleAction } from './api.ts';
import { CATEGORIES } from './pages/events/event-words.tsx';
import { KINDS, STATES } from './pages/messages/status.ts';
import { STATUSES } from './pages/tasks/status.ts';
import { TASK_CHOICES, WORKFLOW_CHOICES } from './pages/workflows/status.ts';

/** Parses one search parameter; undefined if it is missing or not allowed. */
type Parameter<T> = (value: unknown) => T | undefined;
type Shape = Record<string, Parameter<unknown>>;
type Search<S extends Shape> = { [K in keyof S]?: Exclude<ReturnType<S[K]>, undefined> };

/** A search schema. Other parameters of the address are dropped. */
const schema =
  <S extends Shape>(shape: S) =>
  (given: Record<string, unknown>): Search<S> =>
    Object.fromEntries(
      Object.entries(shape).flatMap(([name, read]) => {
        const value = read(given[name]);
        return value === undefined ? [] : [[name, value]];
      }),
    ) as Search<S>;

/** The router parses `123` and `true` as a number and a boolean; this converts them back to text. */
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
/** One of the choices of a filter. */
const choice = <T extends string>(choices: readonly (readonly [T, string])[]): Parameter<T> => oneOf(...choices.map(([value]) => value));

const MAX_TURNED = 100;
const texts: Parameter<string[]> = (value) => {
  const kept = Array.isArray(value) ? value.filter((each) => typeof each === 'string').slice(0, MAX_TURNED) : [];
  return kept.length > 0 ? kept : undefined;
};

/** On every page: the selected repository. */
export const rootSearch = schema({ repo: text });

/** Now: the item that is open beside the list. */
export const nowSearch = schema({ question: text, approval: text, ask: text, overlap: text });

/** Without a status: all open tasks. `before`: the list starts after `<updated_at>.<task id>`. `task`: the open panel. `plan`: the form is open. */
export const taskSearch = schema({ status: choice(STATUSES), mine: flag, owner: text, workstream: text, before: text, task: text, plan: flag });
export const claimSearch = schema({ mine: flag, before: text, claim: text });
/** `subject`: only overlaps of this task or workstream. `warning`: the open panel. `audit`: the audit is shown. */
export const overlapSearch = schema({ status: oneOf('open'), level: oneOf('warn', 'escalated'), subject: text, before: text, warning: text, audit: flag });
/** The default is 7 days. */
export const WEEK_SPANS = [14, 31] as const;
export const weekSearch = schema({ days: oneOf(...WEEK_SPANS) });

export const workflowsSearch = schema({ status: choice(WORKFLOW_CHOICES) });
/** `task`: the open panel. */
export const workflowSearch = schema({ task: text });
/** `turned`: groups that the person opened or folded. */
export const graphSearch = schema({ turned: texts });
/** `gaps`: idle times are drawn to scale. */
export const timelineSearch = schema({ gaps: flag, as: oneOf('table') });
/** `text`: part of a name. */
export const listSearch = schema({ status: choice(TASK_CHOICES), text: shortText });

/** The default: open instances of every type. */
export const reviewSearch = schema({ show: oneOf('all'), type: oneOf<Instance['type']>('coding', 'review', 'planning') });
/** `text`: the screen as text, for screen readers. */
export const terminalSearch = schema({ text: flag });
/** `path`: the open file. */
export const diffSearch = schema({ path: text });

/** `handoff`: the number of the open handoff. `whole`: show it in full instead of the changes since the previous one. */
export const cycleSearch = schema({ handoff: positive, whole: flag });

/** `message`: the id of the open thread. */
export const messageSearch = schema({ kind: choice(KINDS), state: choice(STATES), mine: flag, message: text, broadcast: flag });

/** `tool`: the open panel. `who` and `can`: the access check, as `developer:mira` and a tool. */
const toolState = oneOf<CatalogueTool['state']>('up', 'starting', 'down', 'withheld');
export const catalogueSearch = schema({ q: text, server: text, state: toolState, tool: text, who: text, can: text });
export const serverSearch = schema({ server: text });
/** `grant`: the open panel, or `new` for the form. `action` and `who`: prefilled values of the form. */
const grantStatus = oneOf<Grant['status']>('live', 'exhausted', 'expired', 'revoked');
export const grantSearch = schema({ grant: text, status: grantStatus, q: text, action: text, who: text });
/** `from` and `callers`: the first tool and the first token of the page. */
export const matrixSearch = schema({ q: text, server: text, from: positive, callers: positive });
export const changeSearch = schema({ change: text, show: oneOf('rejected') });

/** All fields of the journal's filter. */
const EVENT_FILTER = { category: choice(CATEGORIES), text, kind: text, actor: text, subject: text, session: text, outcome: text };
export type EventSearch = Omit<ActionInput<'events.list'>, 'after' | 'before' | 'latest' | 'limit'>;
export const eventFilter: (given: Record<string, unknown>) => EventSearch = schema(EVENT_FILTER);
/** `event`: the open panel. `chart`: the period of the chart; the default is an hour. */
export const activitySearch = schema({ ...EVENT_FILTER, event: positive, chart: oneOf('day') });

/** The default is by agent over 30 days. `bars`: how the bars are stacked. `prices`: the dialog is open. */
export const usageSearch = schema({
  by: oneOf('day', 'task', 'developer'),
  days: oneOf(7, 90, 366),
  bars: oneOf('agent'),
  measure: oneOf('tokens'),
  prices: flag,
});

/** `create`: the form has the focus. `token`: the open panel. `whose`: all developers, for operators. */
export const tokenSearch = schema({ create: flag, token: text, whose: oneOf('all') });
/** `cwd`: the folder of the repository. */
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
