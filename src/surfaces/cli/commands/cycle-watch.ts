import { excerpt } from '../../../kernel/excerpt.ts';
import type { JournalEvent } from '../../../storage/journal.ts';
import { call } from '../call.ts';
import { findServer } from '../client.ts';
import { type CliCommand, CliError, type Invocation, interruptible, option } from '../command.ts';
import { actorNames, IN_REPOSITORY, showHere, statusText, typedCommand } from './cycle-ask.ts';
import { type ActorName, type CycleAnswer, eventLine } from './cycle-text.ts';

export const cycleWatch: CliCommand = {
  name: 'cycle watch',
  summary: 'Follow a cycle: one line for each thing that happens, until it ends or, with --until PHASE, is in that phase.',
  options: { ...IN_REPOSITORY, until: { type: 'string' } },
  async run(invocation) {
    if (!(await findServer(invocation.env)))
      throw new CliError('NOT_RUNNING', 'No server of this home runs, so nothing happens that could be followed.', 'covenant up');
    // The position first: what happens before the status is read is then shown twice, and never lost.
    const { head } = await call(invocation, 'events.list', { latest: 1 });
    const shown = await showHere(invocation);
    const until = option(invocation, 'until');
    const phases = shown.machine.phases.map(({ name }) => name);
    if (until !== undefined && !phases.includes(until)) {
      throw new CliError('INVALID_PHASE', `There is no phase ${JSON.stringify(until)} in ${shown.repository}.`, `Use one of ${phases.join(', ')}.`);
    }

    if (invocation.json) invocation.out.result(JSON.stringify({ kind: 'cycle', ...shown }));
    else invocation.out.result(`${await statusText(invocation, shown)}\n`);
    if (until !== undefined && shown.cycle?.phase === until) return undefined;
    if (!invocation.json) invocation.out.note(`${shown.cycle ? 'Following it' : 'Waiting for a cycle to start'}; Ctrl-C ends this.`);
    await interruptible((signal) => follow(invocation, shown, head.seq, until, signal));
    return undefined;
  },
};

async function follow(invocation: Invocation, shown: CycleAnswer, after: number, until: string | undefined, signal: AbortSignal): Promise<void> {
  const { followJournal } = await import('../follow.ts');
  const names = namesAsTheyCome(invocation);
  const { env } = invocation;
  let cycle = shown.cycle?.id;
  for await (const event of followJournal({ env, workspace: option(invocation, 'workspace'), after, signal, connected: connectionNotes(invocation) })) {
    if (!isOf(event, shown.repository, cycle)) continue;
    if (event.kind === 'cycle.started') cycle = event.subject ?? undefined;
    if (invocation.json) invocation.out.result(JSON.stringify({ kind: 'cycle_event', event }));
    else invocation.out.result(eventLine(event, await names(event.actor)));
    if (event.payload.phase === until && until !== undefined) return;
    if (!['cycle.archived', 'cycle.cancelled'].includes(event.kind)) continue;
    if (until === undefined) return;
    const message = `The cycle ended in the phase ${event.payload.phase}, before it was in ${until}.`;
    throw new CliError('PHASE_NOT_REACHED', message, typedCommand(invocation, 'cycle history'));
  }
}

/** Of this cycle, or of its repository: sessions and refused PSKs are of no cycle. Calls of the tools are `usage`, and not meant. */
function isOf({ category, kind, subject, payload }: JournalEvent, repository: string, cycle: string | undefined): boolean {
  if (category === 'usage' || !kind.startsWith('cycle.')) return false;
  if (cycle !== undefined && subject === cycle) return true;
  return typeof payload.repository === 'string' && [repository, excerpt(repository, 300)].includes(payload.repository);
}

/** Somebody may join while we watch. */
function namesAsTheyCome(invocation: Invocation): (actor: string) => Promise<ActorName> {
  let known: ActorName | undefined;
  return async (actor) => {
    if (!known || known(actor).includes('@private')) known = await actorNames(invocation).catch(() => known ?? ((unnamed) => unnamed));
    return known;
  };
}

function connectionNotes(invocation: Invocation): (is: boolean) => void {
  let was = true;
  return (is) => {
    if (is === was) return;
    was = is;
    if (invocation.json) return;
    const { good, wait } = invocation.out.mark;
    invocation.out.note(is ? `${good} The server is back; nothing was missed.` : `${wait} The server does not answer. Waiting for it: covenant up`);
  };
}
