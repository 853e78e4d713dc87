import { excerpt } from '../../../kernel/excerpt.ts';
import type { JournalEvent } from '../../../storage/journal.ts';
import { call } from '../call.ts';
import { findServer } from '../client.ts';
import { type CliCommand, CliError, type Invocation, interruptible, option } from '../command.ts';
import { actorNames, IN_REPOSITORY, showHere, statusText, typedCommand } from './cycle-ask.ts';
import { type ActorName, type CycleAnswer, eventLine } from './cycle-text.ts';

export const cycleWatch: CliCommand = {
  name: 'cycle watch',
  summary: 'Print the events of a cycle, one per line, until the cycle ends.',
  options: { ...IN_REPOSITORY, until: { value: 'PHASE', description: 'Stop when the cycle reaches this phase.', default: 'the end of the cycle' } },
  examples: ['cycle watch', 'cycle watch --until review'],
  async run(invocation) {
    if (!(await findServer(invocation.env)))
      throw new CliError('NOT_RUNNING', 'No server of this home is running, so there are no events to follow.', 'covenant up');
    // Reads the position in the journal before the status. An event that happens in between is then shown twice instead of being lost.
    const { head } = await call(invocation, 'events.list', { latest: 1 });
    const shown = await showHere(invocation);
    const until = option(invocation, 'until');
    const phases = shown.machine.phases.map(({ name }) => name);
    if (until !== undefined && !phases.includes(until)) {
      throw new CliError('INVALID_PHASE', `${shown.repository} has no phase ${JSON.stringify(until)}.`, `Use one of ${phases.join(', ')}.`);
    }

    if (invocation.json) invocation.out.result(JSON.stringify({ kind: 'cycle', ...shown }));
    else invocation.out.result(`${await statusText(invocation, shown)}\n`);
    if (until !== undefined && shown.cycle?.phase === until) return undefined;
    if (!invocation.json) invocation.out.note(`${shown.cycle ? 'Following the cycle' : 'Waiting for a cycle to start'}. Stop with Ctrl-C.`);
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
    const message = `The cycle ended in the phase ${event.payload.phase}, before it reached ${until}.`;
    throw new CliError('PHASE_NOT_REACHED', message, typedCommand(invocation, 'cycle history'));
  }
}

/** Session and PSK events name only their repository and no cycle, so they are compared by repository. Tool calls (`usage` events) are left out. */
function isOf({ category, kind, subject, payload }: JournalEvent, repository: string, cycle: string | undefined): boolean {
  if (category === 'usage' || !kind.startsWith('cycle.')) return false;
  if (cycle !== undefined && subject === cycle) return true;
  return typeof payload.repository === 'string' && [repository, excerpt(repository, 300)].includes(payload.repository);
}

/** Reads the names again if an actor is unknown, because a developer may join while the command runs. */
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
    invocation.out.note(is ? `${good} The server is back. No event was missed.` : `${wait} The server does not answer. Start it with: covenant up`);
  };
}
