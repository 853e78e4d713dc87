import { type AnswerTo, itemEndingIn } from '../call.ts';
import { type CliCommand, CliError, type CommandResult, given, type Invocation, option, UsageError } from '../command.ts';
import { canConfirm, confirm } from '../confirm.ts';
import { actorNames, afterChange, askCycle, IN_REPOSITORY, repositoryHere, showHere, statusText, typedCommand } from './cycle-ask.ts';
import { cycleInit } from './cycle-init.ts';
import { type CurrentCycle, type CycleAnswer, handoffLines, historyTable, latestFor, sessionTable } from './cycle-text.ts';
import { cycleWatch } from './cycle-watch.ts';

const ALL = { ...IN_REPOSITORY, all: { type: 'boolean' } } as const;

/** Only those of this repository, unless all are asked for. */
const filter = (invocation: Invocation) => (invocation.values.all === true ? {} : repositoryHere(invocation));

/** Features that take turns between roles, for people at a terminal. */
export const cycleCommands: readonly CliCommand[] = [
  cycleInit,
  {
    name: 'cycle start',
    summary: 'Start a cycle in this repository: --feature names what it is about. The first role takes the turn.',
    options: { ...IN_REPOSITORY, feature: { type: 'string' }, mode: { type: 'string' } },
    async run(invocation) {
      if (option(invocation, 'feature') === undefined) throw new UsageError('--feature TEXT is needed');
      const answer = await askCycle(invocation, 'cycles.start', { ...repositoryHere(invocation), ...given(invocation, 'feature', 'mode') });
      const { cycle } = answer;
      return await changed(invocation, 'cycle_started', answer, `Started ${cycle.cycle_id} in ${cycle.repository}: ${turn(cycle)}`, 'cycle watch');
    },
  },
  {
    name: 'cycle status',
    summary: 'Whose turn it is and since when, what was handed over, which sessions are open, and what comes next.',
    options: IN_REPOSITORY,
    async run(invocation) {
      const shown = await showHere(invocation);
      return { json: { kind: 'cycle', ...shown }, text: await statusText(invocation, shown) };
    },
  },
  cycleWatch,
  {
    name: 'cycle read',
    summary: 'What was last handed over to a role, in the active cycle or, with --cycle, in an earlier one of the history.',
    positionals: ['TARGET'],
    options: { ...IN_REPOSITORY, cycle: { type: 'string' } },
    run: read,
  },
  {
    name: 'cycle history',
    summary: 'The cycles of this repository, newest first; with --all those of the whole workspace.',
    options: ALL,
    async run(invocation) {
      const listed = await askCycle(invocation, 'cycles.list', filter(invocation));
      const all = invocation.values.all === true;
      const none = `${all ? 'No cycle was started in this workspace' : 'No cycle was started here'} yet.`;
      const text = historyTable(listed, all, `${none}\n    next: ${typedCommand(invocation, 'cycle start --feature checkout')}`, Date.now());
      return { json: { kind: 'cycle_list', ...listed }, text };
    },
  },
  {
    name: 'cycle complete',
    summary: 'Complete the active cycle in the place of its role.',
    options: IN_REPOSITORY,
    async run(invocation) {
      const answer = await askCycle(invocation, 'cycles.complete', repositoryHere(invocation));
      return await changed(invocation, 'cycle_completed', answer, `Completed ${answer.cycle.cycle_id}: ${turn(answer.cycle)}`, 'cycle archive');
    },
  },
  {
    name: 'cycle archive',
    summary: 'Put the complete cycle into .mcp-broker/archive and make room for the next one.',
    options: IN_REPOSITORY,
    async run(invocation) {
      const answer = await askCycle(invocation, 'cycles.archive', repositoryHere(invocation));
      return await changed(invocation, 'cycle_archived', answer, `Archived ${answer.cycle.cycle_id} in ${answer.cycle.archive}.`);
    },
  },
  {
    name: 'cycle cancel',
    summary: 'End the active cycle in whatever phase it is; --reason says why. Its handoffs stay in the history.',
    options: { ...IN_REPOSITORY, reason: { type: 'string' } },
    run: cancel,
  },
  {
    name: 'cycle sessions',
    summary: 'The role sessions of this repository, newest first; with --all those of the whole workspace.',
    options: ALL,
    async run(invocation) {
      const { items } = await askCycle(invocation, 'cycles.sessions', filter(invocation));
      const table = items.length > 0 && sessionTable(items, invocation.values.all === true, await actorNames(invocation), Date.now());
      return {
        json: { kind: 'role_session_list', items },
        text: table || 'No role has opened a session: agents do so with session.open and the PSK of their role.',
      };
    },
  },
  {
    name: 'cycle close-session',
    summary: 'Close a role session by its id, or the end of it: its token is refused from then on.',
    positionals: ['SESSION'],
    async run(invocation) {
      const session = await askCycle(invocation, 'cycles.close_session', { session_id: invocation.positionals[0] });
      const text = `${invocation.out.mark.good} Closed ${session.session_id}, a session of ${session.role} in ${session.repository}.`;
      return { json: { kind: 'role_session_closed', ...session }, text };
    },
  },
];

const turn = ({ phase, active_role }: CurrentCycle): string => `phase ${phase}, turn of ${active_role}.`;

async function changed(invocation: Invocation, kind: string, answer: AnswerTo<'cycles.cancel'>, done: string, next?: string): Promise<CommandResult> {
  const { cycle, mirror_error } = answer;
  const notes = await afterChange(invocation, cycle.repository, mirror_error);
  const last = next === undefined || notes.some((note) => note.includes('next:')) ? [] : [`    next: ${typedCommand(invocation, next)}`];
  const text = [`${invocation.out.mark.good} ${done}`, ...notes, ...last].join('\n');
  return { json: { kind, ...answer }, text };
}

async function read(invocation: Invocation): Promise<CommandResult> {
  const target = invocation.positionals[0] as string;
  const { cycle, machine, handoffs, repository } = await showNamed(invocation);
  if (!machine.roles.includes(target)) {
    throw new CliError('INVALID_TARGET', `There is no role ${JSON.stringify(target)} in ${repository}.`, `Use one of ${machine.roles.join(', ')}.`);
  }
  const handoff = latestFor(handoffs, target) ?? null;
  const none = cycle
    ? `Nothing has been handed over to ${target} in ${cycle.cycle_id}.`
    : `No cycle is active in ${repository}; --cycle names an earlier one.\n    next: ${typedCommand(invocation, 'cycle history')}`;
  const json = { kind: 'handoff', cycle_id: cycle?.cycle_id ?? null, target, handoff };
  return { json, text: handoff ? handoffLines(handoff, Date.now()) : none };
}

/** By the name that the history has for it, or the end of that; its names are unique in their repository. */
async function showNamed(invocation: Invocation): Promise<CycleAnswer> {
  const tail = option(invocation, 'cycle');
  if (tail === undefined) return await showHere(invocation);
  const { items } = await askCycle(invocation, 'cycles.list', { ...repositoryHere(invocation), limit: 500 });
  const { id } = itemEndingIn(items, ({ cycle_id }) => cycle_id, tail, {
    none: new CliError('CYCLE_NOT_FOUND', `No cycle of this repository ends in ${JSON.stringify(tail)}.`, typedCommand(invocation, 'cycle history')),
    several(fitting) {
      const names = fitting.slice(0, 5).map(({ cycle_id }) => cycle_id);
      return new CliError('AMBIGUOUS_ID', `${JSON.stringify(tail)} fits more than one cycle: ${names.join(', ')}.`, 'Give more of the id.');
    },
  });
  return await askCycle(invocation, 'cycles.show', { id });
}

/** A person sees what would end before they say yes, and ends that: what was started meanwhile goes on. */
async function cancel(invocation: Invocation): Promise<CommandResult> {
  const reason = option(invocation, 'reason');
  if (reason === undefined) throw new UsageError('--reason TEXT is needed');
  let which: Record<string, string> = repositoryHere(invocation);
  const shown = canConfirm(invocation) ? (await showHere(invocation)).cycle : null;
  if (shown) {
    const question = `Cancel ${shown.feature} (${shown.cycle_id}), in the phase ${shown.phase}, turn of ${shown.active_role}?`;
    if (!(await confirm(question))) return { json: { kind: 'cycle', cycle: shown }, text: 'Nothing was cancelled.', exit: 1 };
    which = { id: shown.id };
  }
  const answer = await askCycle(invocation, 'cycles.cancel', { ...which, reason });
  const done = `Cancelled ${answer.cycle.cycle_id} in the phase ${answer.cycle.phase}. Its handoffs stay in the history.`;
  return await changed(invocation, 'cycle_cancelled', answer, done);
}
