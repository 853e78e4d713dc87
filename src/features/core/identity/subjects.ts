import type { Principal } from '../../../kernel/call.ts';
import { notFound } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { hasRow } from '../../../storage/rows.ts';
import type { Caller, CallersPage, NamedSubject, Subjects } from '../capabilities/index.ts';
import { principalOf, tokenEnd } from './authenticate.ts';
import { requireDeveloper } from './developers.ts';
import { PRIVATE } from './redact.ts';
import { findDeveloper, pageOfTokens, type TokenWithDeveloper, tokenNamed, tokensById } from './store.ts';
import { developerSeenBy, viewerOf } from './viewer.ts';

/** Translates grant subjects from names into stored ids, and back. */
export const grantSubjects = {
  async resolve(db: Db, workspace: string, named: NamedSubject): Promise<string> {
    if (named.developer) return `developer:${(await requireDeveloper({ db, workspace }, named.developer)).id}`;
    if (named.token) return `token:${(await tokenNamed(db, workspace, named.token)).id}`;
    if (named.instance) {
      if (!(await hasRow(db, 'tokens', { workspace_id: workspace, instance_id: named.instance })))
        throw notFound(
          'INSTANCE_NOT_FOUND',
          `No instance in this workspace has the id ${JSON.stringify(named.instance)}.`,
          'Run `covenant instances list` for the ids.',
          'instance',
        );
      return `instance:${named.instance}`;
    }
    return 'operator';
  },

  async names(db: Db, workspace: string, viewer: Principal, subjects: readonly string[]): Promise<(subject: string) => string> {
    const ids = (kind: string) => subjects.flatMap((subject) => (subject.startsWith(`${kind}:`) ? [subject.slice(kind.length + 1)] : []));
    const { name, sees } = await viewerOf(db, viewer);
    const tokens = new Map((await tokensById(db, workspace, ids('token'))).map((token) => [`token:${token.id}`, token]));
    return (subject) => {
      if (subject.startsWith('developer:')) return name(subject.slice('developer:'.length));
      const token = tokens.get(subject);
      if (!token) return subject;
      // Labels may contain people's names.
      return sees(token.developer_id) ? `${name(token.developer_id) ?? token.kind}, ${token.label}` : PRIVATE;
    };
  },

  hidden: PRIVATE,
  callersOf,
  callers,
} satisfies Subjects;

/** The maximum number of tokens that are explained for one subject. */
const MAX_ITEMS = 50;

const ENDED = {
  revoked: 'The token was revoked. It is refused before any grant is checked.',
  expired: 'The token has expired. It is refused before any grant is checked.',
};

/** Returns a caller for a subject that has no token, to show what the grants of the subject alone would allow. */
function bareCaller(subject: string, viewer: Principal, part: Partial<Principal>, name: string): Caller {
  const principal: Principal = {
    kind: 'developer',
    workspace: viewer.workspace,
    tokenId: '',
    developerId: null,
    developerName: null,
    agentType: null,
    instanceId: null,
    web: false,
    signedInAt: null,
    operator: false,
    runsAgents: false,
    actor: subject,
    subjects: [subject],
    ...part,
  };
  return { principal, subject, name, label: '', ended: null };
}

const operatorCaller = (viewer: Principal): Caller => bareCaller('operator', viewer, { kind: 'operator', operator: true }, 'operator');

function tokenCaller(token: TokenWithDeveloper, viewer: Principal, now: number): Caller {
  const owner = developerSeenBy({ id: token.developer_id, name: token.developer_name, visibility: token.developer_visibility }, viewer).name;
  const end = tokenEnd(token, now);
  return {
    principal: principalOf(token),
    subject: `token:${token.id}`,
    name: token.instance_id ?? (owner === PRIVATE || token.agent_type === null ? (owner ?? token.kind) : `${token.agent_type}@${owner}`),
    // Labels may contain people's names.
    label: owner === PRIVATE ? '' : token.label,
    ended: end === undefined ? null : ENDED[end],
  };
}

async function callersOf(db: Db, viewer: Principal, subject: string, now: number): Promise<CallersPage> {
  if (subject === 'operator') return { callers: [operatorCaller(viewer)], total: 1 };
  const [kind, id] = [subject.slice(0, subject.indexOf(':')), subject.slice(subject.indexOf(':') + 1)];
  const live = { status: 'live' } as const;
  const which = kind === 'token' ? { token_id: id } : kind === 'instance' ? { instanceId: id, ...live } : { developerId: id, ...live };
  const { rows, total } = await pageOfTokens(db, viewer.workspace, { ...which, calling: true, now, limit: MAX_ITEMS, offset: 0 });
  if (total > 0) return { callers: rows.map((token) => tokenCaller(token, viewer, now)), total };
  const developer = kind === 'developer' ? await findDeveloper(db, viewer.workspace, { id }) : undefined;
  const name = developer ? developerSeenBy(developer, viewer).name : id;
  return { callers: [bareCaller(subject, viewer, { developerId: developer?.id ?? null, kind: developer ? 'developer' : 'instance' }, name)], total: 1 };
}

/** Lists the callers. The operator comes first, if the viewer may see it. */
async function callers(db: Db, viewer: Principal, { limit, offset }: { limit: number; offset: number }, now: number): Promise<CallersPage> {
  const first = viewer.operator ? [operatorCaller(viewer)].slice(offset) : [];
  const page = { limit: limit - first.length, offset: viewer.operator ? Math.max(0, offset - 1) : offset };
  const own = viewer.operator ? {} : { developerId: viewer.developerId ?? '' };
  const { rows, total } = await pageOfTokens(db, viewer.workspace, { ...own, calling: true, status: 'live', now, ...page });
  return { callers: [...first, ...rows.map((token) => tokenCaller(token, viewer, now))], total: total + (viewer.operator ? 1 : 0) };
}
