import fc from 'fast-check';
import { isRecord, linksSession, SESSION_FIELD } from '../../kernel/registry.ts';
import { type ParsedAnswer, readAnswer } from './answers.ts';
import { type Call, callsOf, type Manner } from './calls.ts';
import type { Change } from './captured.ts';
import { resolved } from './pick.ts';
import { meant } from './pools.ts';
import { Reads } from './reads.ts';
import { recipeFor } from './recipes/index.ts';
import { Kitchen } from './recipes/kitchen.ts';
import { transgressions } from './rights.ts';
import { type Caller, type FuzzScene, REPOSITORY } from './scene.ts';
import { asSent, fieldsOf, type Target, targetsOf } from './targets.ts';

/** Counts how the calls of one target ended. */
export interface Tally {
  calls: number;
  ok: number;
  readonly codes: Map<string, number>;
  /** The answer to the last refused call. */
  refusal?: string;
  /** Fields that a successful call has sent and its handler has read. */
  readonly read: Set<string>;
}

export interface Fuzz {
  readonly targets: readonly Target[];
  readonly tallies: ReadonlyMap<string, Tally>;
  /** Fields of the target that no successful call has read. */
  unread(target: Target): string[];
  /** Makes this many calls of the target. If a call breaks a rule, reduces it to the smallest call that still does, and throws an error. */
  try(target: Target, manner: Manner, runs: number, seed: number): Promise<void>;
}

/** Prepares calls of all targets. The results are added to `tallies`, which may contain results from earlier scenes. */
export function fuzzOf(scene: FuzzScene, tallies = new Map<string, Tally>()): Fuzz {
  const targets = targetsOf(scene.app.registry);
  const reads = new Reads();
  /**
   * All ids that callers have sent, including ids from other workspaces. Such an id may appear in an answer, because refusals repeat it and the journal
   * stores refusals.
   */
  const named = new Set<string>();
  for (const published of new Set(targets.map((target) => target.published))) reads.watch(published);
  for (const { label } of targets) if (!tallies.has(label)) tallies.set(label, { calls: 0, ok: 0, codes: new Map(), read: new Set() });

  async function make(target: Target, call: Call): Promise<void> {
    const caller = await scene.caller(call.caller);
    const recipe = recipeFor(target);
    await scene.captured.changes();
    const cooks = call.recipe && recipe.by.includes(call.caller);
    const input = resolved(call.input, (pick) => meant(scene, caller, pick));
    const cooked = cooks && isRecord(input) ? await recipe.with?.(new Kitchen(scene, caller, call.n, input)) : undefined;
    const args = asSent(target, cooked && isRecord(input) ? withoutUndefined({ ...input, ...cooked }) : input);
    await scene.captured.changes();
    reads.take();
    scene.clock.advance(200);
    const workspace = call.caller === 'operator' ? recipe.workspace : undefined;
    const send = call.http || call.caller === 'gone' ? overHttp : dispatched;
    const body = await send(scene, target, args, caller, { workspace, placed: call.placed });
    const seen = reads.take();
    const sent = printed(args);
    const { told, problems } = readAnswer(target, body, sent);
    const changes = await scene.captured.changes();
    const acting = workspace === undefined ? caller.principal.workspace : `ws_${workspace}`;
    problems.push(...transgressions(scene, { target, caller, workspace: acting, told, changes }));
    if (call.caller === 'gone' && told.status === 'ok') problems.push('a revoked token was accepted');
    // The journal records calls without a valid token only up to a limit.
    if (call.caller !== 'gone' && !isKept(target, caller, told, changes)) problems.push('the journal has no event for the call');
    for (const id of idsIn(sent)) named.add(id);
    const far = strayIn(scene, caller, body, named);
    if (far) problems.push(`names ${far}, which belongs to another workspace`);
    note(target, told, isRecord(args) ? args : {}, seen);
    if (told.status === 'ok' && target.name.startsWith('approvals.') && isRecord(args)) await wentOn(String(args.approval_id));
    if (problems.length === 0) return;
    const inside = told.code?.startsWith('INTERNAL') ? scene.logged.slice(-3) : [];
    const paste = `${target.noun}(${JSON.stringify(target.name)}, ${sent}, ${call.caller})`;
    throw new Error([...problems, `  ${paste}`, `  answered ${JSON.stringify(body).slice(0, 600)}`, ...inside].join('\n'));
  }

  /** Waits until the approved call has ended, so that its changes are not taken for changes by the next call. */
  async function wentOn(approval: string): Promise<void> {
    await scene.waiting.get(approval);
    await scene.captured.changes();
  }

  function note(target: Target, told: ParsedAnswer, args: Record<string, unknown>, seen: ReadonlySet<string>): void {
    const tally = tallies.get(target.label) as Tally;
    tally.calls++;
    const code = told.status === 'ok' ? 'ok' : `${told.code}`;
    tally.codes.set(code, (tally.codes.get(code) ?? 0) + 1);
    const done = told.status === 'ok' || told.status === 'warning';
    if (!done) tally.refusal = `${told.code}: ${told.message}`;
    if (!done) return;
    tally.ok++;
    for (const field of seen) if (Object.hasOwn(args, field)) tally.read.add(field);
  }

  const arbitraries = new Map<string, fc.Arbitrary<Call>>();
  return {
    targets,
    tallies,
    unread: (target) => fieldsOf(target).filter((field) => !isThePipes(target, field) && !tallies.get(target.label)?.read.has(field)),
    async try(target, manner, runs, seed) {
      const key = `${target.label} ${manner}`;
      const calls = arbitraries.get(key) ?? callsOf(target, manner);
      arbitraries.set(key, calls);
      const made = await fc.check(
        fc.asyncProperty(calls, (call) => make(target, call)),
        { numRuns: runs, seed, endOnFailure: false },
      );
      if (!made.failed) return;
      const error = (made.errorInstance as Error | null) ?? new Error('it was not answered in time');
      throw new Error(`${target.label}: ${error.message}\n  (seed ${seed})`, { cause: error });
    },
  };
}

/**
 * Whether the journal contains an event for the call, if it must. It does not record reads by the dashboard and very frequent calls, and counts
 * unauthenticated calls only per minute.
 */
function isKept({ contract }: Target, { principal }: Caller, told: ParsedAnswer, changes: readonly Change[]): boolean {
  const isStranger = told.code === 'UNAUTHENTICATED' || (told.code === 'MALFORMED_REQUEST' && principal.web);
  if (isStranger || (principal.web && contract.annotations.readOnlyHint) || (contract.quiet && told.status === 'ok')) return true;
  return changes.some(({ table, after }) => table === 'events' && after?.category === 'usage' && after.actor === principal.actor);
}

const idsIn = (text: string): string[] => text.match(/[a-z]+_[0-9A-HJKMNP-TV-Z]{26}/g) ?? [];

/** Finds an id in the answer that belongs to another workspace and that no caller has sent. */
function strayIn(scene: FuzzScene, { principal }: Caller, body: unknown, named: ReadonlySet<string>): string | undefined {
  if (principal.kind === 'operator') return undefined;
  return idsIn(JSON.stringify(body)).find((id) => (scene.captured.workspaceOf(id) ?? principal.workspace) !== principal.workspace && !named.has(id));
}

/** Whether the pipe and not the handler reads the field. The pipe uses the field to link a call of the team contract to a session. */
const isThePipes = ({ contract }: Target, field: string): boolean => field === SESSION_FIELD && linksSession(contract);

/** Removes fields with the value undefined, because a recipe omits a field by setting it to undefined. */
const withoutUndefined = (fields: object): object => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

function printed(args: unknown): string {
  const text = JSON.stringify(args) ?? String(args);
  return text.length > 4_000 ? `${text.slice(0, 4_000)}…` : text;
}

interface Sending {
  readonly workspace: string | undefined;
  readonly placed: boolean;
}

async function dispatched({ app }: FuzzScene, target: Target, args: unknown, { principal }: Caller, { workspace, placed }: Sending): Promise<unknown> {
  const place = placed ? { repository: REPOSITORY, place: { folder: REPOSITORY, repo: 'acme/app', branch: 'main' } } : {};
  const request = { name: target.name, args, principal, surface: principal.web ? ('dashboard' as const) : ('api' as const), workspace, ...place };
  return (await (target.noun === 'tool' ? app.dispatch.tool(request) : app.dispatch.action(request))).body;
}

async function overHttp(
  { server }: FuzzScene,
  target: Target,
  args: unknown,
  { token, principal, proof = '' }: Caller,
  { workspace }: Sending,
): Promise<unknown> {
  const isTool = target.noun === 'tool';
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    ...(principal.web && !isTool
      ? { cookie: `covenant_${new URL(server.url).port}=${token}`, 'x-covenant-proof': proof }
      : { authorization: `Bearer ${token}` }),
    ...(workspace ? { 'x-covenant-workspace': workspace } : {}),
  };
  const sent = JSON.stringify(isTool ? { tool: target.name, arguments: args } : args);
  const answer = await fetch(`${server.url}${isTool ? '/api/mcp' : `/api/actions/${target.name}`}`, { method: 'POST', headers, body: sent ?? '' });
  return await answer.json();
}
