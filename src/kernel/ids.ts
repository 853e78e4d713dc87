import { randomFillSync } from 'node:crypto';
import { Refusal } from './reply.ts';

/** Crockford's base 32: no letter that is mistaken for a digit. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_DIGITS = 10;
const TAIL_DIGITS = 16;
const STEP_DIGITS = 4;

/** Chance is drawn in bulk: a draw per id costs more than all the rest of making one. */
const pool = new Uint8Array(4096);
let spent = pool.length;

let lastTime = -1;
const tail = new Uint8Array(TAIL_DIGITS);

/** `task_` + time + chance. Ids sort by when they were made, also those that one process made in one millisecond. */
export function newId(prefix: string, now: number): string {
  if (now === lastTime) increment(tail);
  else drawTail();
  lastTime = now;
  let id = '';
  for (let rest = now, digit = 0; digit < TIME_DIGITS; digit++, rest = Math.floor(rest / 32)) id = ALPHABET[rest % 32] + id;
  for (const digit of tail) id += ALPHABET[digit];
  return `${prefix}_${id}`;
}

function drawTail(): void {
  for (let i = 0; i < TAIL_DIGITS; i++) tail[i] = randomDigit();
  // Room to count up within the millisecond without running over.
  tail[0] = (tail[0] as number) & 15;
}

/** By a random step, so that an id does not tell its neighbour. */
function increment(digits: Uint8Array): void {
  let carry = 1;
  for (let i = TAIL_DIGITS - 1; i >= 0; i--) {
    const step = i >= TAIL_DIGITS - STEP_DIGITS ? randomDigit() : 0;
    const sum = (digits[i] as number) + step + carry;
    digits[i] = sum & 31;
    carry = sum >> 5;
  }
}

function randomDigit(): number {
  if (spent === pool.length) {
    randomFillSync(pool);
    spent = 0;
  }
  return (pool[spent++] as number) & 31;
}

export const isWorkspaceName = (name: string): boolean => /^[a-z0-9][a-z0-9-]{0,39}$/.test(name);

/** The id follows from the name, so that every server of a database agrees on it without asking. */
export function workspaceId(name: string): string {
  if (!isWorkspaceName(name)) {
    throw new Refusal(
      'INVALID_INPUT',
      `workspace: ${JSON.stringify(name.slice(0, 60))} is not a workspace name.`,
      'Use lower-case letters, digits and dashes, at most 40.',
      { field: 'workspace' },
    );
  }
  return `ws_${name}`;
}

export const workspaceName = (id: string): string => id.replace(/^ws_/, '');

export const DEFAULT_WORKSPACE_ID = workspaceId('default');

/**
 * An agent is who acts: `agent:codex@dev_…`, `instance:work-7-a1`, `developer:dev_…` for a token without a type, `operator`.
 * People's addresses have it without the word before the colon.
 */
export const agentIdOf = (actor: string): string => actor.replace(/^(?:agent|instance|developer):/, '');

export function actorOf(agentId: string): string {
  if (agentId === 'operator') return agentId;
  if (agentId.includes('@')) return `agent:${agentId}`;
  return agentId.startsWith('dev_') ? `developer:${agentId}` : `instance:${agentId}`;
}

const AGENT = /^agent:(.+)@(dev_\w+)$/;
const DEVELOPER = /^developer:(dev_\w+)$/;

/** Of which program, where that is in its name. */
export const agentTypeOf = (actor: string): string | null => AGENT.exec(actor)?.[1] ?? null;

/** Whose it is by its name alone; an instance's developer stands in its row. */
export const ownerOf = (actor: string): string | null => AGENT.exec(actor)?.[2] ?? DEVELOPER.exec(actor)?.[1] ?? null;

/** `codex@mira`, `mira`, `work-7-a1`. */
export function nameOf(actor: string, developer: (id: string) => string): string {
  const [, type, owner] = AGENT.exec(actor) ?? [];
  if (type && owner) return `${type}@${developer(owner)}`;
  const person = DEVELOPER.exec(actor)?.[1];
  return person ? developer(person) : agentIdOf(actor);
}

interface Carrier {
  readonly kind: string;
  readonly developer_id: string | null;
  readonly agent_type: string | null;
  readonly instance_id: string | null;
}

/** As whom the carrier of a token acts; undefined for a browser. */
export function actorOfToken({ kind, developer_id, agent_type, instance_id }: Carrier): string | undefined {
  if (kind === 'agent') return `agent:${agent_type}@${developer_id}`;
  if (kind === 'instance') return `instance:${instance_id}`;
  if (kind === 'developer') return `developer:${developer_id}`;
  return kind === 'operator' ? 'operator' : undefined;
}
