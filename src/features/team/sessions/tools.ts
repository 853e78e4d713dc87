import { record, type WriteContext } from '../../../kernel/call.ts';
import { ok, Refusal, refused } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { newId } from '../../../storage/rows.ts';
import type { AgentSessionRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { callingDeveloper, PRIVATE, viewerOf } from '../../core/identity/index.ts';
import { fileConflicts } from '../overlap/index.ts';
import { companionAnswer, readManifest } from './companion.ts';
import { ACTIVITY_KEPT, type BeatNews, endSession, heartbeat, listSessions, logActivity, snapshot, startSession } from './contract.ts';
import { beginSession, type EndListener, finishSession, sessionNotFound } from './lifecycle.ts';
import { localGraph } from './local-graph.ts';
import { checkBounds, isOfMachine, syncMachine } from './machine-report.ts';
import { type SnapshotListener, storeSnapshot } from './snapshot.ts';
import { findSession, insertActivity, recentSessions } from './store.ts';

export interface SessionParts {
  readonly heartbeat?: readonly HeartbeatListener[];
  readonly snapshot?: readonly SnapshotListener[];
  readonly end?: readonly EndListener[];
  /** Path of the manifest of the companion release that this server offers. */
  readonly manifest?: string | undefined;
}

/** Limits of the graph in a reply to an agent. The dashboard shows more. */
const GRAPH_IN_ANSWER = { worktrees: 10, files: 10, commits: 3 };

/** Before a handler runs, the dispatcher has checked that `session_id` belongs to the caller, and has recorded that the session is alive. */
export function sessionTools({
  heartbeat: beatListeners = [],
  snapshot: snapshotListeners = [],
  end: endListeners = [],
  manifest,
}: SessionParts): Implementation[] {
  return [
    implement(startSession, {
      write: async (tx, input, ctx) => {
        const { id, agent_type } = await beginSession(tx, ctx, input);
        const news = await newsFor(beatListeners, tx, { ...ctx, session: id }, id);
        return ok({ session_id: id, agent_type, started_at: tx.now, ...news }, 'Session started. Pass session_id to the other covibe tools.');
      },
    }),
    implement(heartbeat, {
      prepare: async ({ companion_version }, ctx) => (companion_version === undefined ? undefined : await readManifest(manifest, ctx.log)),
      write: async (tx, input, ctx, release) => {
        const developerId = callingDeveloper(ctx.principal);
        checkBounds(input);
        if (input.session_id !== undefined) await activeSession(tx, input.session_id);
        const repos = await syncMachine(tx, ctx, developerId, input);
        const news = isOfMachine(input) ? {} : await newsFor(beatListeners, tx, ctx, input.session_id ?? null);
        return ok(
          {
            session_id: input.session_id ?? null,
            last_seen_at: tx.now,
            ...(repos === undefined ? {} : { registered_repos: repos }),
            ...(release && input.companion_version !== undefined ? { companion: companionAnswer(release, input.companion_version) } : {}),
            ...news,
          },
          'Heartbeat received.',
        );
      },
    }),
    implement(snapshot, {
      write: async (tx, input, ctx) => {
        const session = await activeSession(tx, input.session_id);
        const { worktreeId, ...report } = await storeSnapshot(tx, ctx, session, input);
        const question = { files: report.files, repo: report.repo, viewer: ctx.principal, now: tx.now, except: [worktreeId] };
        const conflicts = (await fileConflicts(tx.db, tx.workspace, question)).filter(({ same_developer }) => !same_developer);
        for (const listener of snapshotListeners) await listener(tx, ctx, report);
        const graph = await localGraph(tx.db, tx.workspace, report.repo, ctx.principal, GRAPH_IN_ANSWER);
        const data = { worktree_id: worktreeId, file_conflicts: conflicts, local_graph: graph };
        if (conflicts.length === 0) return ok(data, 'Snapshot stored. Nobody else is working on these files.');
        const owners = [...new Set(conflicts.map(({ owner }) => owner))];
        const named = owners.find((owner) => owner !== PRIVATE);
        const next =
          named === undefined
            ? 'These developers are private, so you cannot ask them. Work on other files instead, or ask your user before you change these files any further.'
            : `Before you change these further, ask the owners in \`data.file_conflicts\`: call covibe_coordination with operation "ask", to ${JSON.stringify(named)} and a message.`;
        return refused('warning', 'FILE_OVERLAP', `Snapshot stored. Also working on files that you changed: ${owners.slice(0, 5).join(', ')}.`, next, data);
      },
    }),
    implement(logActivity, {
      write: async (tx, { session_id, text }, ctx) => {
        await activeSession(tx, session_id);
        const id = newId('act', tx.now);
        await insertActivity(tx, session_id, id, text, ACTIVITY_KEPT);
        record(tx, ctx, { category: 'work', kind: 'session.activity', subject: session_id, payload: { text } });
        return ok({ session_id, activity_id: id, last_seen_at: tx.now }, 'Activity recorded.');
      },
    }),
    implement(endSession, {
      write: async (tx, { session_id }, ctx) => {
        const { ended_at } = await ownSession(tx, session_id);
        if (ended_at !== null) {
          return refused(
            'warning',
            'SESSION_ALREADY_ENDED',
            'This session has already ended.',
            'To continue, call covibe_session with operation "start" and use its session_id.',
            {
              session_id,
              ended_at,
            },
          );
        }
        const ended = await finishSession(tx, ctx, session_id, endListeners);
        return ok({ session_id, ended_at: tx.now, ...ended }, 'Session ended.');
      },
    }),
    implement(listSessions, {
      read: async ({ limit }, ctx) =>
        ok({ items: await recentSessions(ctx.reader, ctx.workspace, await viewerOf(ctx.reader, ctx.principal), ctx.clock.now(), limit) }),
    }),
  ];
}

async function ownSession(tx: Tx, sessionId: string): Promise<AgentSessionRow> {
  const session = await findSession(tx.db, tx.workspace, sessionId);
  if (!session) throw sessionNotFound(sessionId);
  return session;
}

async function activeSession(tx: Tx, sessionId: string): Promise<AgentSessionRow> {
  const session = await ownSession(tx, sessionId);
  if (session.ended_at === null) return session;
  const next = 'Call covibe_session with operation "start" and use its session_id.';
  throw new Refusal('SESSION_ENDED', `Session ${session.id} has ended.`, next, { field: 'session_id' });
}

/** Runs at the start of a session and with every heartbeat of an agent. Its result becomes part of the reply. */
type HeartbeatListener = (tx: Tx, ctx: WriteContext, beat: { sessionId: string | null }) => Promise<BeatNews>;

async function newsFor(listeners: readonly HeartbeatListener[], tx: Tx, ctx: WriteContext, sessionId: string | null): Promise<BeatNews> {
  const news: BeatNews = {};
  for (const listener of listeners) Object.assign(news, await listener(tx, ctx, { sessionId }));
  return news;
}
