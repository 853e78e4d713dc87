import fc from 'fast-check';
import { isRecord } from '../../kernel/registry.ts';
import type { Row, Table } from '../fuzz/captured.ts';
import { ownerOf } from '../fuzz/owners.ts';
import { Pick, resolved } from '../fuzz/pick.ts';
import { hintFor, meant } from '../fuzz/pools.ts';
import { cycleCooking } from '../fuzz/recipes/cycle.ts';
import { recipeFor } from '../fuzz/recipes/index.ts';
import { Kitchen } from '../fuzz/recipes/kitchen.ts';
import { type Caller, type CallerName, type FuzzScene, openFuzzScene, REPOSITORY } from '../fuzz/scene.ts';
import { valid } from '../fuzz/schema.ts';
import { asSent, type Target, targetsOf } from '../fuzz/targets.ts';
import { until } from '../until.ts';

/**
 * Paula uses this text in every name of a branch, agent, folder or machine, and nobody else uses it. It contains letters that never occur in ids, because ids
 * are random and searches ignore case.
 */
export const MARK = 'qloq';
const NAMED = new RegExp(`${MARK}|gemini`);

const MARKED: Readonly<Record<string, string>> = {
  agent_name: `${MARK}-agent`,
  model: `${MARK}-model`,
  provider: `${MARK}-provider`,
  workspace_path: `/home/${MARK}/tree`,
  worktree: `/home/${MARK}/tree`,
  folder: `/home/${MARK}/tree`,
  cwd: `/home/${MARK}/tree`,
  client_session: `${MARK}-run`,
};

export interface Read {
  readonly label: string;
  /** The arguments of the call as JSON. */
  readonly sent: string;
  readonly body: unknown;
}

export interface Find extends Read {
  /** The answer to the same call with a word that does not occur anywhere. */
  readonly otherwise: unknown;
}

export interface PrivateTeam {
  readonly scene: FuzzScene;
  readonly paulaId: string;
  /** Returns the ids of Paula's rows and the tables that contain them. */
  ids(): Map<string, Table>;
  /** Calls all tools and actions that the member may call, and returns the answers. */
  readAll(member: CallerName, signedIn: CallerName): Promise<Read[]>;
  /** Calls all lists and searches with words that occur only in Paula's hidden fields, and returns the answers. */
  findAll(member: CallerName, signedIn: CallerName): Promise<Find[]>;
}

/** Sets up a team in which all members have created data of every kind. Paula then becomes private. */
export async function privateTeam(): Promise<PrivateTeam> {
  const scene = await openFuzzScene();
  await scene.renew();
  const targets = targetsOf(scene.app.registry).filter(({ published, name }) => published.name === name);
  const { principal } = await scene.caller('paula');
  const paulaId = principal.developerId as string;
  for (const by of ['ben', 'ana', 'paula'] as const) {
    for (const target of targets.filter(({ noun, contract }) => noun === 'tool' || contract.access === 'token')) {
      if (!recipeFor(target).by.includes(by)) continue;
      for (let n = 1; n <= 4; n++) await call(target, by, n, (args) => (by === 'paula' ? marked(args, target, n) : args));
    }
  }
  await adminWork();
  await scene.done('developers.set_visibility', { developer: 'paula', visibility: 'private' });
  await scene.captured.changes();

  /** Creates grants for Paula, a call that waits for approval, an instance and a device. */
  async function adminWork(): Promise<void> {
    const { tokenId, token } = await scene.caller('paula');
    for (const action of ['tool.call.echo', 'tool.call.clock']) await scene.done('capabilities.grant', { action, token: tokenId });
    await scene.done('capabilities.grant', { action: 'tool.call.echo', developer: 'paula' });
    const ana = await scene.caller('ana');
    await scene.tool('no_such_tool', {}, ana);
    for (let again = 0; again < 3; again++) {
      for (const tool of ['echo', 'clock', 'no_such_tool']) {
        await scene.app.dispatch.tool({
          name: tool,
          args: tool === 'echo' ? { text: 'x' } : {},
          principal,
          surface: 'api',
          correlation: { turn: `${MARK}-turn` },
        });
      }
    }
    const asked = await fetch(`${scene.server.url}/api/setup/device`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ machine_name: `${MARK}-laptop`, agents: ['codex'] }),
    });
    const { user_code } = (await asked.json()) as { user_code: string };
    await scene.done('devices.approve', { code: user_code, developer: 'paula' });
    await openRole();
    await heldCall();
    await instance();
  }

  async function openRole(): Promise<void> {
    const kitchen = new Kitchen(scene, await scene.caller('paula'), 1);
    await cycleCooking.clear(kitchen);
    await cycleCooking.open(kitchen, 'gemini');
  }

  /** Makes a call that a person then approves. */
  async function heldCall(): Promise<void> {
    const { tokenId, ...caller } = await scene.developer('paula', 'gemini');
    await scene.done('capabilities.grant', { action: 'tool.call.echo', token: tokenId, scope: { approve: true } });
    await scene.done('capabilities.revoke', { action: 'tool.call.echo', developer: 'paula' });
    const call = scene.tool('echo', { text: 'wait' }, { tokenId, ...caller });
    const approval_id = await until(async () => {
      const rows = await scene.app.store.reader.selectFrom('approvals').select('id').where('token_id', '=', tokenId).execute();
      if (!rows[0]) throw new Error('nothing waits yet');
      return rows[0].id;
    });
    await scene.done('approvals.approve', { approval_id });
    await call;
  }

  /** Starts an instance. This needs operator rights, so the instance is assigned to Paula afterwards. */
  async function instance(): Promise<void> {
    const { id } = (await scene.done('instances.start', { repository_path: REPOSITORY, type: 'coding', issue: 4_711, agent: 'tiny' })) as { id: string };
    await scene.app.store.write(principal.workspace, async (tx) => {
      await tx.db
        .updateTable('instances')
        .set({ developer_id: paulaId, branch_name: `${MARK}/instance` })
        .where('id', '=', id)
        .execute();
      await tx.db.updateTable('tokens').set({ developer_id: paulaId }).where('instance_id', '=', id).execute();
      await tx.db.updateTable('agents').set({ developer_id: paulaId }).where('actor', '=', `instance:${id}`).execute();
    });
  }

  async function call(target: Target, by: CallerName, n: number, change: (args: object) => object = (args) => args): Promise<Read> {
    const caller = await scene.caller(by);
    await scene.captured.changes();
    const [made] = fc.sample(valid(target.schema, hintFor(target)), { numRuns: 1, seed: 7_919 * n });
    const input = resolved(made, (pick) => meant(scene, caller, new Pick(pick.pool, 'mine', n)));
    const recipe = recipeFor(target);
    const cooked = recipe.by.includes(by) && isRecord(input) ? await recipe.with?.(new Kitchen(scene, caller, n, input)) : undefined;
    const fields = Object.fromEntries(Object.entries({ ...(input as object), ...cooked }).filter(([, value]) => value !== undefined));
    return await send(target, caller, change(fields));
  }

  async function send(target: Target, { principal: who }: Caller, fields: object): Promise<Read> {
    scene.clock.advance(200);
    const request = { name: target.name, args: asSent(target, fields), principal: who, surface: who.web ? ('dashboard' as const) : ('api' as const) };
    const { body } = await (target.noun === 'tool' ? scene.app.dispatch.tool(request) : scene.app.dispatch.action(request));
    return { label: target.label, sent: JSON.stringify(fields), body };
  }

  const isPaulas = (table: Table, row: Row): boolean => ownerOf(scene, table, row) === paulaId;

  /** Makes reads with Paula's ids in the input, as a member could try to do. */
  async function readsOf(target: Target, caller: Caller, numRuns = 8): Promise<Read[]> {
    const inputs = fc.sample(valid(target.schema, hintFor(target)), { numRuns, seed: 20_261_115 });
    const required = new Set((target.schema.required as string[] | undefined) ?? []);
    const answers: Read[] = [];
    for (const [index, input] of [...inputs, ...inputs.slice(0, 4).map((made) => onlyRequired(made, required))].entries()) {
      const fields = resolved(input, ({ pool }) => paulas(pool, index) ?? meant(scene, caller, new Pick(pool, 'any', index)));
      if (isRecord(fields))
        answers.push(
          await send(target, caller, {
            ...fields,
            ...guessesFor(target),
            ...('limit' in fields ? { limit: 100 } : {}),
            ...('offset' in fields ? { offset: 0 } : {}),
          }),
        );
    }
    return answers;
  }

  /** Returns free text that contains ids of Paula's agents and sessions. If an answer repeated one of them, it would confirm a guess. */
  function guessesFor({ schema, contract: { annotations } }: Target): object {
    if (annotations.readOnlyHint) return {};
    const ids = (['agents', 'agent_sessions'] as const).flatMap((table) =>
      scene.captured
        .rows(table)
        .filter((row) => isPaulas(table, row))
        .slice(-4)
        .map(({ id }) => id),
    );
    const texts = Object.entries((schema.properties ?? {}) as Record<string, { type?: string; maxLength?: number }>).filter(
      ([, { type, maxLength = 0 }]) => type === 'string' && maxLength >= 300,
    );
    return Object.fromEntries(texts.map(([field]) => [field, ids.join(' ')]));
  }

  /** Lets an agent of Paula claim a workflow task, so that the server refuses other agents because of this task. */
  async function holdStep(): Promise<void> {
    for (const name of ['agent_register', 'task_claim']) await call(targets.find((target) => target.name === name) as Target, 'paula', 21);
    await scene.captured.changes();
  }

  /** Makes one call for each text field that can be used without other input. */
  async function findsOf(target: Target, caller: Caller): Promise<Find[]> {
    const required = (target.schema.required as string[] | undefined) ?? [];
    const answers: Find[] = [];
    for (const [field, { type }] of Object.entries((target.schema.properties ?? {}) as Record<string, { type?: string }>)) {
      if (type !== 'string' || required.some((other) => other !== field)) continue;
      for (const word of field === 'runtime' ? ['gemini'] : [MARK, `${MARK}/branch`, ...new Set(Object.values(MARKED))])
        answers.push({
          ...(await send(target, caller, { [field]: word })),
          otherwise: (await send(target, caller, { [field]: word.replace(NAMED, 'nloq') })).body,
        });
    }
    return answers;
  }

  function paulas(pool: string, n: number): unknown {
    const table = (pool === 'threads' ? 'messages' : pool) as Table;
    const rows = scene.captured.rows(table).filter((row) => isPaulas(table, row));
    const row = rows.at(-1 - (n % Math.max(rows.length, 1)));
    return pool === 'threads' ? row?.thread_id : row?.id;
  }

  /** Returns the targets that members may call, with the caller that uses each of them. */
  const answering = (member: CallerName, signedIn: CallerName) =>
    targets
      .filter(({ contract: { access, toolset } }) => access !== 'operator' && access !== 'server' && toolset !== 'review')
      .map((target) => ({ target, by: target.noun === 'tool' || target.contract.access === 'token' ? member : signedIn }));

  return {
    scene,
    paulaId,
    ids() {
      const found = new Map<string, Table>();
      for (const table of TABLES)
        for (const row of scene.captured.rows(table)) if (typeof row.id === 'string' && isPaulas(table, row)) found.set(row.id, table);
      return found;
    },
    async findAll(member, signedIn) {
      const answers: Find[] = [];
      for (const { target, by } of answering(member, signedIn))
        if (target.contract.annotations.readOnlyHint) answers.push(...(await findsOf(target, await scene.caller(by))));
      return answers;
    },
    async readAll(member, signedIn) {
      const answers: Read[] = [];
      for (const { target, by } of answering(member, signedIn)) {
        const { annotations } = target.contract;
        if (annotations.readOnlyHint) answers.push(...(await readsOf(target, await scene.caller(by))));
        // Writes are tried too, because a refusal says what blocks the write.
        else if (recipeFor(target).by.includes(by)) for (let n = 11; n <= 12; n++) answers.push(await call(target, by, n));
      }
      for (let after = 0, more = true; more; ) {
        const { reply, body } = await scene.action('events.list', { after, limit: 1_000 }, await scene.caller(signedIn));
        const { items } = (reply as { data: { items: { seq: number }[] } }).data;
        answers.push({ label: 'events.list', sent: '', body });
        after = items.at(-1)?.seq ?? after;
        more = items.length === 1_000;
      }
      for (const { target } of answering(member, signedIn)) {
        if (target.contract.annotations.readOnlyHint || target.noun !== 'tool') continue;
        await holdStep();
        answers.push(...(await readsOf(target, await scene.caller(member), 2)));
      }
      await scene.captured.changes();
      return answers;
    },
  };
}

const TABLES: readonly Table[] = [
  ...(['developers', 'tokens', 'agent_sessions', 'grants', 'agents', 'device_grants', 'role_sessions', 'approvals', 'local_worktrees', 'worktrees'] as const),
  ...(['tasks', 'workstreams', 'session_contexts', 'claims', 'announcements', 'asks', 'handoffs', 'notes', 'messages', 'checkpoints'] as const),
  ...(['overlap_warnings', 'preflight_checks', 'scope_verdicts', 'workflow_tasks', 'workflow_templates', 'session_activity', 'instances'] as const),
];

/** Puts Paula's mark into the names in the arguments. A worktree also needs a unique path and branch. */
function marked(args: object, { name, schema }: Target, n: number): object {
  const known = (schema.properties ?? {}) as object;
  const names = Object.entries(MARKED).filter(([field]) => field in known);
  const place = name === 'workspace_create' ? { path: `/home/${MARK}/tree-${n}`, branch: `${MARK}/tree-${n}` } : {};
  const agent = 'runtime' in known ? { runtime: 'gemini', name: `${MARK}-bot` } : {};
  return { ...args, ...('branch' in known ? { branch: `${MARK}/branch` } : {}), ...Object.fromEntries(names), ...agent, ...place };
}

const onlyRequired = (input: unknown, required: ReadonlySet<string>): unknown =>
  isRecord(input) ? Object.fromEntries(Object.entries(input).filter(([field]) => required.has(field))) : input;
