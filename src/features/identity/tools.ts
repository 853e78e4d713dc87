import { type Principal, record, type WriteContext } from '../../kernel/context.ts';
import { Refusal } from '../../kernel/errors.ts';
import { ok } from '../../kernel/reply.ts';
import { onlyMatch } from '../../kernel/tail.ts';
import { type Implementation, implement } from '../../kernel/tool.ts';
import type { Tx } from '../../storage/write.ts';
import {
  createSigninLink,
  createToken,
  listDevelopers,
  listTokens,
  revokeToken,
  setRunAgents as setRunAgentsContract,
  setVisibility,
  whoAmI,
} from './contract.ts';
import { endToken, ensureDeveloper, issueToken, knownDeveloper, requireDeveloper, setRunAgents } from './people.ts';
import { PRIVATE, shown } from './privacy.ts';
import { makeSigninLink } from './signin.ts';
import { agentRunners, developersOf, findTokensByTail, firstDeveloper, pageOfTokens, setDeveloperVisibility, type TokenWithDeveloper } from './store.ts';
import type { DeveloperRow, TokenRow } from './tables.ts';

export const identityTools: Implementation[] = [
  implement(createToken, {
    write: async (tx, input, ctx) => {
      const developer = await developerFor(tx, input.developer, ctx);
      const kind = input.agent ? 'agent' : 'developer';
      const { value, token } = await issueToken(tx, {
        kind,
        developerId: developer.id,
        agentType: input.agent,
        label: input.label,
        expiresAt: input.expires_in_minutes === undefined ? undefined : tx.now + input.expires_in_minutes * 60_000,
        by: ctx.principal.actor,
      });
      return ok(
        { token: value, token_id: token.id, developer_id: developer.id, developer: developer.name, label: token.label, agent: token.agent_type },
        'Token created. It is shown this once.',
      );
    },
  }),
  implement(listTokens, {
    read: async ({ own, ...filter }, ctx) => {
      const { operator, developerId } = ctx.principal;
      const now = ctx.clock.now();
      const { rows, total } = await pageOfTokens(ctx.reader, ctx.workspace, { ...filter, ...((own || !operator) && { developerId }), now });
      return ok({ items: rows.map((token) => tokenView(token, ctx.principal, now)), total });
    },
  }),
  implement(revokeToken, {
    write: async (tx, input, ctx) => {
      const token = await ownToken(tx, input.token_id, ctx.principal);
      return ok({ token_id: token.id, revoked_at: await endToken(tx, token, ctx.principal.actor) }, 'Token revoked.');
    },
  }),
  implement(createSigninLink, {
    write: async (tx, input, ctx) => {
      const developer = input.developer ? await requireDeveloper(tx, input.developer) : await firstDeveloper(tx.db, tx.workspace);
      if (!developer) throw new Refusal('DEVELOPER_NOT_FOUND', 'This workspace has no developer yet.', 'covenant tokens create --developer NAME makes one.');
      await requireNoBorrowing(tx, developer, ctx);
      const link = await makeSigninLink(tx, developer, ctx.principal.actor);
      return ok({ path: link.path, developer: developer.name, expires_at: link.expiresAt });
    },
  }),
  implement(listDevelopers, {
    read: async (_input, ctx) => {
      const developers = await developersOf(ctx.reader, ctx.workspace);
      const runners = await agentRunners(ctx.reader, ctx.workspace);
      return ok({ items: developers.map((developer) => developerView(developer, runners, ctx.principal)) });
    },
  }),
  implement(setVisibility, {
    write: async (tx, input, ctx) => {
      const developer = await knownDeveloper(tx, input.developer, ctx);
      await setDeveloperVisibility(tx.db, tx.workspace, developer.id, input.visibility);
      record(tx, ctx, { category: 'work', kind: 'developer.visibility_set', subject: developer.id, payload: { visibility: input.visibility } });
      return ok(developerView({ ...developer, visibility: input.visibility }, await agentRunners(tx.db, tx.workspace), ctx.principal));
    },
  }),
  implement(setRunAgentsContract, {
    write: async (tx, { developer: name, allowed }, ctx) => {
      const developer = await requireDeveloper(tx, name);
      await setRunAgents(tx, developer, allowed, ctx.principal.actor);
      return ok(developerView(developer, await agentRunners(tx.db, tx.workspace), ctx.principal));
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

/** Who signs in as another has what the operator of the server gave to that one alone. */
async function requireNoBorrowing(tx: Tx, { id }: DeveloperRow, { principal }: WriteContext): Promise<void> {
  if (principal.kind === 'operator' || principal.developerId === id || !(await agentRunners(tx.db, tx.workspace)).has(id)) return;
  throw new Refusal(
    'MACHINE_PERMISSION_REQUIRED',
    'This developer may run agents on the server’s machine, so only the operator of the server makes them a sign-in link.',
    'Ask the operator of the server to run: covenant open --developer NAME',
    { field: 'developer' },
  );
}

/** The operator names anybody and makes whom it names; a developer acts for themselves alone. */
async function developerFor(tx: Tx, named: string | undefined, ctx: WriteContext): Promise<DeveloperRow> {
  const { principal } = ctx;
  if (principal.operator && named) return await ensureDeveloper(tx, named, principal.actor);
  return await knownDeveloper(tx, named, ctx);
}

/** A token of another developer is, to a developer, a token that does not exist. */
async function ownToken(tx: Tx, tail: string, principal: Principal): Promise<TokenRow> {
  const found = await findTokensByTail(tx.db, tx.workspace, tail);
  const own = principal.operator ? found : found.filter((token) => token.developer_id === principal.developerId);
  const id = onlyMatch(
    own.map((token) => token.id),
    tail,
    'token',
  );
  return own.find((token) => token.id === id) as TokenRow;
}

function tokenView(token: TokenWithDeveloper, viewer: Principal, now: number) {
  const owner = shown({ id: token.developer_id, name: token.developer_name, visibility: token.developer_visibility }, viewer);
  const expired = token.expires_at !== null && now > token.expires_at;
  return {
    token_id: token.id,
    kind: token.kind,
    developer_id: owner.id,
    developer: owner.name,
    agent: token.agent_type,
    instance_id: token.instance_id,
    // People put their own names, and those of their machines, into labels.
    label: owner.id === PRIVATE ? (token.agent_type ?? token.kind) : token.label,
    created_at: token.created_at,
    expires_at: token.expires_at,
    last_used_at: token.last_used_at,
    status: token.revoked_at !== null ? ('revoked' as const) : expired ? ('expired' as const) : ('live' as const),
  };
}

function developerView(developer: DeveloperRow, runners: ReadonlySet<string>, viewer: Principal) {
  const { id, name } = shown(developer, viewer);
  return {
    developer_id: id,
    name,
    role: developer.role,
    visibility: developer.visibility,
    run_agents: runners.has(developer.id),
    created_at: developer.created_at,
  };
}
