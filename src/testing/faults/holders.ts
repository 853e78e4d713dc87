import type { JournalEvent } from '../../storage/journal.ts';

/** A write that sent the fence of its claim. It is identified by the digest of its arguments. */
export interface FencedWrite {
  readonly task: string;
  readonly agent: string;
  readonly fence: number;
}

type Payload = Record<string, unknown>;

/**
 * Follows the journal and reports three kinds of errors: two holders of the same object, a fence that did not increase, and a time that is earlier than the
 * previous one.
 */
export class HolderCheck {
  readonly problems: string[] = [];
  readonly #fenced: ReadonlyMap<string, FencedWrite>;
  readonly #steps = new Map<string, { agent: string | undefined; fence: number }>();
  readonly #claims = new Map<string, { actor: string; scope: string[]; exclusive: boolean }>();
  readonly #turns = new Map<string, string>();
  #time = 0;

  constructor(fenced: ReadonlyMap<string, FencedWrite> = new Map()) {
    this.#fenced = fenced;
  }

  add(event: JournalEvent): void {
    const { kind, payload, time } = event;
    if (time < this.#time) this.#problem(event, `is dated ${this.#time - time} ms before the previous event`);
    this.#time = time;
    const task = event.subject ?? '';
    if (kind === 'workflow.task_claimed') this.#claimStep(event, task, payload);
    else if (kind === 'workflow.task_released') this.#releaseStep(event, task, payload);
    else if (kind === 'workflow.task_status_changed' && ENDED.includes(String(payload.to))) this.#endStep(event, task, payload);
    else if (kind === 'claim.made') this.#claimPaths(event, task, payload);
    else if (kind === 'claim.renewed' && !this.#claims.has(task)) this.#problem(event, 'renews a claim that nobody holds');
    else if (kind === 'claim.released' || kind === 'claim.expired') {
      if (!this.#claims.delete(task)) this.#problem(event, 'ends a claim that nobody holds');
    } else if (kind.startsWith('cycle.')) this.#turn(event, task, payload);
    else if (event.category === 'usage' && payload.outcome === 'ok') this.#fencedWrite(event, payload);
  }

  #claimStep(event: JournalEvent, task: string, { agent_id, fence }: Payload): void {
    const before = this.#steps.get(task);
    if (before?.agent !== undefined) this.#problem(event, `is claimed by ${agent_id} while ${before.agent} holds it`);
    this.#raise(event, task, fence);
    this.#steps.set(task, { agent: String(agent_id), fence: Number(fence) });
  }

  #releaseStep(event: JournalEvent, task: string, { agent_id, fence }: Payload): void {
    if (this.#steps.get(task)?.agent !== agent_id) this.#problem(event, `is given back by ${agent_id}, who does not hold it`);
    this.#raise(event, task, fence);
    this.#steps.set(task, { agent: undefined, fence: Number(fence) });
  }

  #endStep(event: JournalEvent, task: string, { agent_id }: Payload): void {
    const held = this.#steps.get(task);
    if (held?.agent !== agent_id) this.#problem(event, `is ended by ${agent_id}, who does not hold it`);
    this.#steps.set(task, { agent: undefined, fence: held?.fence ?? 0 });
  }

  #raise(event: JournalEvent, task: string, fence: unknown): void {
    const last = this.#steps.get(task)?.fence ?? 0;
    if (!(Number(fence) > last)) this.#problem(event, `has the fence ${fence} after ${last}`);
  }

  #claimPaths(event: JournalEvent, id: string, { repo, paths, mode }: Payload): void {
    const scope = (paths as string[]).map((path) => `${repo}/${path}`);
    const exclusive = mode === 'exclusive';
    for (const [other, held] of this.#claims) {
      const meets = held.actor !== event.actor && (exclusive || held.exclusive) && held.scope.some((path) => scope.includes(path));
      if (meets) this.#problem(event, `claims paths that ${held.actor} holds through claim ${other}`);
    }
    this.#claims.set(id, { actor: event.actor, scope, exclusive });
  }

  #turn(event: JournalEvent, cycle: string, { active_role, producer, target }: Payload): void {
    if (event.kind === 'cycle.started') this.#turns.set(cycle, String(active_role));
    if (event.kind !== 'cycle.handed_over') return;
    if (this.#turns.get(cycle) !== producer) this.#problem(event, `is handed over by ${producer} in the turn of ${this.#turns.get(cycle)}`);
    this.#turns.set(cycle, String(target));
  }

  #fencedWrite(event: JournalEvent, { arguments_sha256 }: Payload): void {
    const write = this.#fenced.get(String(arguments_sha256));
    if (!write) return;
    const held = this.#steps.get(write.task);
    if (held?.agent !== write.agent || held.fence !== write.fence) {
      this.#problem(event, `was accepted with fence ${write.fence} of ${write.agent}, while ${held?.agent} held the step with fence ${held?.fence}`);
    }
  }

  #problem({ seq, kind, subject }: JournalEvent, what: string): void {
    this.problems.push(`event ${seq} (${kind} ${subject ?? ''}) ${what}`);
  }
}

const ENDED = ['completed', 'failed', 'skipped'];
