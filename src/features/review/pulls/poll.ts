import type { Services } from '../../../kernel/call.ts';
import { messageOf } from '../../../kernel/step.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import { type GitHub, GitHubFailed, type GitHubRepository, type Pull } from '../../../machine/github/github.ts';
import type { Tx } from '../../../storage/write.ts';
import {
  allows,
  beginEnding,
  changeInstance,
  findInstance,
  type InstanceOutside,
  type InstancePorts,
  type InstanceRow,
  pullsToAskFor,
} from '../instances/index.ts';

const ASK_MS = 60_000;
/** Maximum number of pull requests that one run asks about. A GitHub token allows 5,000 requests per hour, and people may use the same token. */
const BATCH_SIZE = 30;
/** A closed pull request is polled for this long, in case somebody reopens it. */
const CLOSED_MS = 30 * 24 * 3_600_000;

/** Asks GitHub for the state of pull requests, beginning with those that were not checked for the longest time. */
export function pollSweep({ store, clock, log }: Services, outside: InstanceOutside, ports: InstancePorts): Sweep {
  const { github } = outside;
  const lastAsked = new Map<string, number>();
  let notBefore = 0;
  /** The last error that was logged about each pull request, or about GitHub itself. */
  const complaints = new Map<string, string>();

  async function askGitHub(row: InstanceRow): Promise<void> {
    const repository = repositoryOf(github, row);
    if (!repository) return;
    const pull = await github.pull(repository, row.pr_number as number);
    for (const about of [keyOf(row), GITHUB]) complaints.delete(about);
    if (STATUS[pull.state] !== row.status) await store.write(row.workspace_id, (tx) => recordState(tx, ports, row, pull));
  }

  /** Logs the error. Returns whether to continue with the other pull requests. */
  function goesOn(row: InstanceRow, error: unknown): boolean {
    if (!(error instanceof GitHubFailed)) throw error;
    if (error.retryAt !== null) notBefore = error.retryAt;
    const isItsOwn = error.why === 'not_found' || error.why === 'invalid';
    const about = isItsOwn ? keyOf(row) : GITHUB;
    // The same error is logged only once, not at every check.
    if (complaints.get(about) !== error.message) log.warn('could not check the pull request', { instance: row.id, why: error.why, reason: messageOf(error) });
    complaints.set(about, error.message);
    return isItsOwn;
  }

  return {
    name: 'pull requests',
    everyMs: ASK_MS,
    async run() {
      const now = clock.now();
      if (!github.hasToken || now < notBefore) return;
      const rows = await pullsToAskFor(store.reader, outside.machine, now - CLOSED_MS);
      const when = (row: InstanceRow) => lastAsked.get(keyOf(row)) ?? 0;
      const due = rows.filter((row) => now - when(row) >= ASK_MS).sort((a, b) => when(a) - when(b));
      const known = new Set(rows.map(keyOf));
      for (const key of lastAsked.keys()) if (!known.has(key)) for (const kept of [lastAsked, complaints]) kept.delete(key);
      for (const row of due.slice(0, BATCH_SIZE)) {
        lastAsked.set(keyOf(row), now);
        try {
          await askGitHub(row);
        } catch (error) {
          if (!goesOn(row, error)) return;
        }
      }
    },
  };
}

const keyOf = ({ workspace_id, id }: InstanceRow): string => `${workspace_id} ${id}`;
const GITHUB = '';
const STATUS = { open: 'pr_created', closed: 'pr_closed', merged: 'pr_merged' } as const;

/** Reads the repository from the address of the pull request, because `origin` may have changed in the meantime. */
function repositoryOf(github: GitHub, { pr_url }: InstanceRow): GitHubRepository | null {
  const [, repository] = /^(https?:\/\/.+)\/pull\/\d+$/.exec(pr_url ?? '') ?? [];
  return repository === undefined ? null : github.repositoryAt(repository);
}

const CHANGES = { open: 'pull request reopened', closed: 'pull request closed', merged: 'pull request merged' } as const;
const KINDS = { open: 'pull.reopened', closed: 'pull.closed', merged: 'pull.merged' } as const;

async function recordState(tx: Tx, ports: InstancePorts, seen: InstanceRow, { state, number, url }: Pull): Promise<void> {
  const row = await findInstance(tx.db, tx.workspace, seen.id);
  if (!row || row.step !== null || row.pr_number !== number || !allows(CHANGES[state], row.status)) return;
  const status = STATUS[state];
  const status_reason = state === 'open' ? null : `pull request #${number} was ${state}`;
  tx.append({ category: 'work', kind: KINDS[state], actor: 'server', subject: row.id, payload: { pr_number: number, pr_url: url } });
  const isGone = row.ended_at !== null && row.kept_reason === null;
  if (state === 'merged' && !isGone) {
    // Its work is merged, so the agent and its worktree are removed.
    await beginEnding(tx, row, { status, status_reason, news: null }, { force: false }, 0);
    return;
  }
  await changeInstance(tx.db, row, { status, status_reason, updated_at: tx.now });
  if (row.ended_at !== null || state === 'merged') return;
  const message = { subject: `Your pull request #${number} was ${state === 'open' ? 'reopened' : 'closed without being merged'}`, body: url };
  await ports.sendMessage(tx, { from: row.agent_id, to: row.agent_id, actor: 'server', ...message });
}
