import { type AnswerTo, itemEndingIn } from '../call.ts';
import { type CliCommand, CliError, type CommandResult, given, type Invocation, option } from '../command.ts';
import { canConfirm, confirm } from '../confirm.ts';
import { actorNames, afterChange, askCycle, IN_REPOSITORY, repositoryHere, showHere, statusText, typedCommand } from './cycle-ask.ts';
import { cycleInit } from './cycle-init.ts';
import { type CurrentCycle, type CycleAnswer, handoffLines, historyTable, latestFor, sessionTable } from './cycle-text.ts';
import { cycleWatch } from './cycle-watch.ts';

const ALL = { ...IN_REPOSITORY, all: { description: 'Include all repositories of the workspace.' } } as const;

/** Lists this repository only, unless `--all` is given. */
const filter = (invocation: Invocation) => (invocation.values.all === true ? {} : repositoryHere(invocation));

export const cycleCommands: readonly CliCommand[] = [
  cycleInit,
  {
    name: 'cycle start',
    summary: 'Start a cycle in this repository.',
    description: 'The first role in the configuration gets the first turn.',
    options: {
      ...IN_REPOSITORY,
      feature: { value: 'TEXT', description: 'The feature that the cycle builds.', required: true },
      mode: { value: 'MODE', description: 'The mode of the cycle.', default: 'the mode in config.json' },
    },
    examples: ['cycle start --feature checkout'],
    async run(invocation) {
      const answer = await askCycle(invocation, 'cycles.start', { ...repositoryHere(invocation), ...given(invocation, 'feature', 'mode') });
      const { cycle } = answer;
      return await changed(invocation, 'cycle_started', answer, `Started ${cycle.cycle_id} in ${cycle.repository}: ${turn(cycle)}`, 'cycle watch');
    },
  },
  {
    name: 'cycle status',
    summary: 'Show the phase, the turn, the handoffs, open sessions and next step.',
    options: IN_REPOSITORY,
    examples: ['cycle status'],
    async run(invocation) {
      const shown = await showHere(invocation);
      return { json: { kind: 'cycle', ...shown }, text: await statusText(invocation, shown) };
    },
  },
  cycleWatch,
  {
    name: 'cycle read',
    summary: 'Print the last handoff to a role.',
    arguments: [{ name: 'ROLE', description: 'The role that received the handoff.' }],
    options: {
      ...IN_REPOSITORY,
      cycle: { value: 'ID', description: 'The id of an earlier cycle, or the last characters of the id.', default: 'the active cycle' },
    },
    examples: ['cycle read reviewer', 'cycle read reviewer --cycle 0001'],
    run: read,
  },
  {
    name: 'cycle history',
    summary: 'List the cycles of this repository, newest first.',
    options: ALL,
    examples: ['cycle history', 'cycle history --all'],
    async run(invocation) {
      const listed = await askCycle(invocation, 'cycles.list', filter(invocation));
      const all = invocation.values.all === true;
      const none = `${all ? 'This workspace' : 'This repository'} has no cycles yet.`;
      const text = historyTable(
        listed,
        all,
        `${none}\n    next: ${typedCommand(invocation, 'cycle start --feature checkout')}`,
        Date.now(),
        invocation.out.columns,
      );
      return { json: { kind: 'cycle_list', ...listed }, text };
    },
  },
  {
    name: 'cycle complete',
    summary: 'Complete the active cycle on behalf of the active role.',
    options: IN_REPOSITORY,
    examples: ['cycle complete'],
    async run(invocation) {
      const answer = await askCycle(invocation, 'cycles.complete', repositoryHere(invocation));
      return await changed(invocation, 'cycle_completed', answer, `Completed ${answer.cycle.cycle_id}: ${turn(answer.cycle)}`, 'cycle archive');
    },
  },
  {
    name: 'cycle archive',
    summary: 'Move a completed cycle to .mcp-broker/archive.',
    description: 'The repository can then start its next cycle.',
    options: IN_REPOSITORY,
    examples: ['cycle archive'],
    async run(invocation) {
      const answer = await askCycle(invocation, 'cycles.archive', repositoryHere(invocation));
      return await changed(invocation, 'cycle_archived', answer, `Archived ${answer.cycle.cycle_id} in ${answer.cycle.archive}.`);
    },
  },
  {
    name: 'cycle cancel',
    summary: 'Cancel the active cycle. Its handoffs stay in the history.',
    description: 'At a terminal, the command asks for confirmation first.',
    options: {
      ...IN_REPOSITORY,
      reason: { value: 'TEXT', description: 'The reason.', required: true },
      yes: { description: 'Cancel without asking.' },
    },
    examples: ['cycle cancel --reason "The feature was dropped"'],
    run: cancel,
  },
  {
    name: 'cycle sessions',
    summary: 'List the role sessions of this repository, newest first.',
    options: ALL,
    examples: ['cycle sessions'],
    async run(invocation) {
      const { items } = await askCycle(invocation, 'cycles.sessions', filter(invocation));
      const table = items.length > 0 && sessionTable(items, invocation.values.all === true, await actorNames(invocation), Date.now(), invocation.out.columns);
      return {
        json: { kind: 'role_session_list', items },
        text: table || 'No role has opened a session yet. Agents open one with session.open and the PSK of their role.',
      };
    },
  },
  {
    name: 'cycle close-session',
    summary: 'Close a role session. Its token stops working immediately.',
    arguments: [{ name: 'SESSION', description: 'The session id, or the last characters of the id.' }],
    examples: ['cycle close-session 4KQ2ZP'],
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
    throw new CliError('INVALID_TARGET', `${repository} has no role ${JSON.stringify(target)}.`, `Use one of ${machine.roles.join(', ')}.`);
  }
  const handoff = latestFor(handoffs, target) ?? null;
  const none = cycle
    ? `${target} has no handoff in ${cycle.cycle_id} yet.`
    : `No cycle is active in ${repository}. Name an earlier one with --cycle ID.\n    next: ${typedCommand(invocation, 'cycle history')}`;
  const json = { kind: 'handoff', cycle_id: cycle?.cycle_id ?? null, target, handoff };
  return { json, text: handoff ? handoffLines(handoff, Date.now()) : none };
}

/** Finds a cycle of this repository by the last characters of its id. The search needs the repository, because ids are unique only within a repository. */
async function showNamed(invocation: Invocation): Promise<CycleAnswer> {
  const tail = option(invocation, 'cycle');
  if (tail === undefined) return await showHere(invocation);
  const { items } = await askCycle(invocation, 'cycles.list', { ...repositoryHere(invocation), limit: 500 });
  const { id } = itemEndingIn(items, ({ cycle_id }) => cycle_id, tail, {
    none: new CliError('CYCLE_NOT_FOUND', `No cycle id of this repository ends in ${JSON.stringify(tail)}.`, typedCommand(invocation, 'cycle history')),
    several(fitting) {
      const names = fitting.slice(0, 5).map(({ cycle_id }) => cycle_id);
      return new CliError('AMBIGUOUS_ID', `${JSON.stringify(tail)} matches several cycles: ${names.join(', ')}.`, 'Give a longer part of the id.');
    },
  });
  return await askCycle(invocation, 'cycles.show', { id });
}

/** At a terminal, names the cycle and asks for confirmation, then cancels exactly that cycle. A cycle that starts in the meantime is not cancelled. */
async function cancel(invocation: Invocation): Promise<CommandResult> {
  const reason = option(invocation, 'reason');
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
