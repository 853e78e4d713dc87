import { type Principal, record, type WriteContext } from '../../../kernel/call.ts';
import { workspaceFlag } from '../../../kernel/ids.ts';
import { notFound, ok, Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { changeRows, view } from '../../../storage/rows.ts';
import type { DeveloperRow, TokenRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { shellQuoted } from '../../../wire/shell-quoted.ts';
import { tokenEnd } from './authenticate.ts';
import {
  createSigninLink,
  createToken,
  developerView,
  endSession,
  listDevelopers,
  listTokens,
  revokeToken,
  rotateToken,
  sessionTicket,
  setRunAgents as setRunAgentsContract,
  setVisibility,
  signOutDeveloper,
  tokenView,
  whoAmI,
} from './contract.ts';
import { ensureDeveloper, requireDeveloper, selfOrNamedDeveloper, setRunAgents, signOutEverywhere } from './developers.ts';
import { isHidden, PRIVATE } from './redact.ts';
import { makeSigninLink } from './signin.ts';
import { agentRunners, developersOf, findDeveloper, firstDeveloper, pageOfTokens, type TokenWithDeveloper, tokenNamed } from './store.ts';
import { issueTicket } from './tickets.ts';
import { agentTokenExpiry, endToken, endTokenById, type IdentityLimits, issueToken, rotateToken as rotateSecret } from './tokens.ts';
import { developerSeenBy } from './viewer.ts';

const MINUTE_MS = 60_000;
/** People are warned this long before an agent's token expires. */
const EXPIRY_WARNING_MS = 7 * 24 * 60 * MINUTE_MS;

export const identityTools = (limits: Pick<IdentityLimits, 'agent_token_days'>): Implementation[] => [
  implement(createToken, {
    write: async (tx, input, ctx) => {
      const developer = await tokenOwner(tx, input.developer, ctx);
      const kind = input.agent ? 'agent' : 'developer';
      const { value, token } = await issueToken(tx, {
        kind,
        developerId: developer.id,
        agentType: input.agent,
        label: input.label,
        expiresAt: expiryIn(tx.now, input.expires_in_minutes) ?? (kind === 'agent' ? agentTokenExpiry(tx.now, limits) : null),
        by: ctx.principal.actor,
      });
      return ok(
        {
          token: value,
          token_id: token.id,
          developer_id: developer.id,
          developer: developer.name,
          label: token.label,
          agent: token.agent_type,
          expires_at: token.expires_at,
        },
        'Token created. It is not shown again.',
      );
    },
  }),
  implement(listTokens, {
    read: async ({ own, expiring, ...filter }, ctx) => {
      const { operator, developerId } = ctx.principal;
      const now = ctx.clock.now();
      const expiringBefore = expiring ? now + EXPIRY_WARNING_MS : undefined;
      const { rows, total } = await pageOfTokens(ctx.reader, ctx.workspace, { ...filter, expiringBefore, ...((own || !operator) && { developerId }), now });
      return ok({ items: rows.map((token) => viewToken(token, ctx.principal, now)), total });
    },
  }),
  implement(revokeToken, {
    write: async (tx, input, ctx) => {
      const token = await ownToken(tx, input.token_id, ctx.principal);
      return ok({ token_id: token.id, revoked_at: await endToken(tx, token, ctx.principal.actor) }, 'Token revoked.');
    },
  }),
  implement(rotateToken, {
    write: async (tx, { token_id, overlap_minutes, expires_in_minutes }, ctx) => {
      const token = await ownToken(tx, token_id, ctx.principal);
      await requireRotatable(tx, token, ctx.principal);
      const renewed = token.kind === 'agent' ? agentTokenExpiry(tx.now, limits) : token.expires_at;
      const expiresAt = expiryIn(tx.now, expires_in_minutes) ?? renewed;
      // The old secret must not expire later than it would have without the rotation, and not later than the token.
      const oldEndsAt = Math.min(tx.now + overlap_minutes * MINUTE_MS, token.expires_at ?? Number.POSITIVE_INFINITY, expiresAt ?? Number.POSITIVE_INFINITY);
      const value = await rotateSecret(tx, token, { oldEndsAt, expiresAt, by: ctx.principal.actor });
      return ok({ token: value, token_id: token.id, old_ends_at: oldEndsAt, expires_at: expiresAt }, 'Token rotated. The new secret is not shown again.');
    },
  }),
  implement(createSigninLink, {
    write: async (tx, input, ctx) => {
      const developer = input.developer ? await requireDeveloper(tx, input.developer) : await firstDeveloper(tx.db, tx.workspace);
      if (!developer)
        throw notFound('DEVELOPER_NOT_FOUND', 'This workspace has no developer yet.', 'Create one with `covenant tokens create --developer NAME`.');
      await requireNoBorrowing(tx, developer, ctx);
      const link = await makeSigninLink(tx, developer, ctx.principal.actor);
      return ok({ path: link.path, developer: developer.name, expires_at: link.expiresAt });
    },
  }),
  implement(listDevelopers, {
    read: async (_input, ctx) => {
      const developers = await developersOf(ctx.reader, ctx.workspace);
      const runners = await agentRunners(ctx.reader, ctx.workspace);
      return ok({ items: developers.map((developer) => viewDeveloper(developer, runners, ctx.principal)) });
    },
  }),
  implement(setVisibility, {
    write: async (tx, input, ctx) => {
      const developer = await selfOrNamedDeveloper(tx, input.developer, ctx);
      await changeRows(tx.db, 'developers', { workspace_id: tx.workspace, id: developer.id }, { visibility: input.visibility });
      record(tx, ctx, { category: 'work', kind: 'developer.visibility_set', subject: developer.id, payload: { visibility: input.visibility } });
      return ok(viewDeveloper({ ...developer, visibility: input.visibility }, await agentRunners(tx.db, tx.workspace), ctx.principal));
    },
  }),
  implement(setRunAgentsContract, {
    write: async (tx, { developer: name, allowed }, ctx) => {
      const developer = await requireDeveloper(tx, name);
      await setRunAgents(tx, developer, allowed, ctx.principal.actor);
      return ok(viewDeveloper(developer, await agentRunners(tx.db, tx.workspace), ctx.principal));
    },
  }),
  implement(signOutDeveloper, {
    write: async (tx, { developer: named }, ctx) => {
      const developer = await selfOrNamedDeveloper(tx, named, ctx);
      return ok({ developer: developer.name, sessions: await signOutEverywhere(tx, developer, ctx.principal.actor) });
    },
  }),
  implement(endSession, {
    write: async (tx, _input, { principal }) => {
      requireWebSession(principal);
      await endTokenById(tx, principal.tokenId, principal.actor);
      return ok({ ended: true as const }, 'Signed out.');
    },
  }),
  implement(sessionTicket, {
    // This is not a `write` handler, because that would journal an event for every socket that a page opens.
    run: async ({ path }, ctx) => {
      requireWebSession(ctx.principal);
      const { ticket, expiresAt } = await ctx.write((tx) => issueTicket(tx, ctx.principal.tokenId, path));
      return ok({ ticket, expires_at: expiresAt });
    },
  }),
  implement(whoAmI, {
    read: async (_input, { principal, workspace }) =>
      ok({
        kind: principal.kind,
        workspace,
        token_id: principal.tokenId,
        developer_id: principal.developerId,
        developer: principal.developerName,
        operator: principal.operator,
        run_agents: principal.runsAgents,
      }),
  }),
];

/**
 * A person who signs in as this developer could also run agents. The operator of the server gave that permission only to this
 * developer, so nobody else may create a sign-in link for the developer.
 */
async function requireNoBorrowing(tx: Tx, developer: DeveloperRow, { principal }: WriteContext): Promise<void> {
  if (principal.kind === 'operator' || principal.developerId === developer.id || !(await agentRunners(tx.db, tx.workspace)).has(developer.id)) return;
  throw new Refusal(
    'MACHINE_PERMISSION_REQUIRED',
    "This developer may run agents on the server's machine, so only the operator of the server can create a sign-in link for them.",
    `Ask the operator of the server to run \`covenant open --developer ${isHidden(developer, principal) ? 'NAME' : shellQuoted(developer.name)}${workspaceFlag(tx.workspace)}\`.`,
    { field: 'developer' },
  );
}

/**
 * Returns the owner of a new token. An operator can name any developer, who is created if needed. A developer can create tokens
 * only for themselves.
 */
async function tokenOwner(tx: Tx, named: string | undefined, ctx: WriteContext): Promise<DeveloperRow> {
  const { principal } = ctx;
  if (principal.operator && named) return await ensureDeveloper(tx, named, principal.actor);
  return await selfOrNamedDeveloper(tx, named, ctx);
}

/** Returns the requested expiry, or undefined if the caller gave no lifetime. */
const expiryIn = (now: number, minutes: number | undefined): number | undefined => (minutes === undefined ? undefined : now + minutes * MINUTE_MS);

function requireWebSession({ web }: Principal): void {
  if (!web)
    throw new Refusal(
      'SESSION_REQUIRED',
      'Only a dashboard session can call this action.',
      'A token needs neither ticket nor session: send it with each request as `Authorization: Bearer cv_…`.',
    );
}

async function requireRotatable(tx: Tx, token: TokenRow, viewer: Principal): Promise<void> {
  if (token.kind !== 'agent' && token.kind !== 'developer') {
    throw new Refusal(
      'TOKEN_NOT_ROTATABLE',
      `Token ${token.id} is of kind ${token.kind}. Only tokens of agents and developers can be rotated.`,
      "To renew a dashboard session, sign in again with `covenant open`. An instance's token ends with the instance. To replace the operator's token, run `covenant tokens revoke ID`, stop the server, then run `covenant up`.",
      { field: 'token_id' },
    );
  }
  if (tokenEnd(token, tx.now) === undefined) return;
  const owner = token.developer_id === null ? undefined : await findDeveloper(tx.db, tx.workspace, { id: token.developer_id });
  const name = owner && !isHidden(owner, viewer) ? shellQuoted(owner.name) : 'NAME';
  const agent = token.agent_type === null ? '' : ` --agent ${token.agent_type}`;
  throw new Refusal(
    'TOKEN_ENDED',
    `Token ${token.id} was revoked or has expired.`,
    `Create a new one: \`covenant tokens create --developer ${name}${agent}${workspaceFlag(tx.workspace)}\`.`,
    { field: 'token_id' },
  );
}

/** Finds a token that the caller may change. For the token of another developer, the refusal is the same as for a token that does not exist. */
const ownToken = (tx: Tx, tail: string, { operator, developerId }: Principal): Promise<TokenRow> =>
  tokenNamed(tx.db, tx.workspace, tail, operator ? undefined : developerId);

function viewToken(token: TokenWithDeveloper, viewer: Principal, now: number) {
  const owner = developerSeenBy({ id: token.developer_id, name: token.developer_name, visibility: token.developer_visibility }, viewer);
  return view(tokenView, token, {
    token_id: token.id,
    developer_id: owner.id,
    developer: owner.name,
    agent: token.agent_type,
    // Labels may contain names of people and machines.
    label: owner.id === PRIVATE ? (token.agent_type ?? token.kind) : token.label,
    status: tokenEnd(token, now) ?? 'live',
  });
}

function viewDeveloper(developer: DeveloperRow, runners: ReadonlySet<string>, viewer: Principal) {
  const { id, name } = developerSeenBy(developer, viewer);
  return view(developerView, developer, { developer_id: id, name, run_agents: runners.has(developer.id) });
}
