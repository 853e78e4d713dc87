import type { CallContext } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import { notFound, ok, Refusal, type Refused, refused } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { grantSubjects } from '../../core/identity/index.ts';
import type { ServerCatalogue } from './catalogue.ts';
import { concealer, targetOf } from './conceal.ts';
import { approveServer, forgetServer, listServers, rejectServer, restartServer, type ServerStatus, serverLogs } from './contract.ts';
import { rejectionsOf } from './decisions.ts';
import { differenceOf } from './difference.ts';
import type { EntryProblem, ServerEntry } from './entry.ts';
import type { WithheldDefinition } from './pins.ts';

/** The servers as they run; in a process that runs none, as they are configured. */
export interface ServerControl {
  entries(): { readonly entries: readonly ServerEntry[]; readonly problems: readonly EntryProblem[] };
  status(server: string): ServerStatus;
  /** Reads the file again first. Resolves when it is up or has failed to start. */
  restart(server: string): Promise<void>;
  log(server: string, lines: number): Promise<readonly string[]>;
}

export function serverTools(catalogue: ServerCatalogue, control: ServerControl): Implementation[] {
  const entryOf = (server: string): ServerEntry => {
    const { entries, problems } = control.entries();
    const entry = entries.find(({ name }) => name === server);
    if (entry) return entry;
    const fault = problems.find((problem) => problem.server === server);
    if (fault) {
      const message = `The server ${server} is skipped: secrets.toml:${fault.line}: ${fault.message}`;
      throw new Refusal('SERVER_SKIPPED', message, 'Correct that line.', { field: 'server' });
    }
    const known = entries.map(({ name }) => name).join(', ');
    throw notFound(
      'SERVER_NOT_FOUND',
      `There is no server ${JSON.stringify(server)} in secrets.toml${known ? `; there is ${known}` : ''}.`,
      'covenant servers list also shows entries that were skipped, and why.',
      'server',
    );
  };

  const owns = ({ workspace }: Pick<CallContext, 'workspace'>, server: string): boolean => ownEntries(control, workspace).some(({ name }) => name === server);

  const ownEntry = (ctx: Pick<CallContext, 'workspace'>, server: string): ServerEntry => {
    requireOwner(ctx, owns(ctx, server));
    return entryOf(server);
  };

  /** One that is skipped because of a fault is in the file all the same; and whose a fault is cannot always be read. */
  const mayBeWritten = (server: string): boolean => {
    const { entries, problems } = control.entries();
    const isHidden = ({ line, server: whose }: EntryProblem) => whose === server || (whose === null && (line !== null || entries.length === 0));
    return entries.some(({ name }) => name === server) || problems.some(isHidden);
  };

  /** An `exclude` that means nothing is as bad as one that is missing. */
  const misnamed = (entry: ServerEntry): EntryProblem[] =>
    catalogue.notThere(entry).map((name) => ({
      line: entry.line,
      server: entry.name,
      message: `include, exclude: it has no tool or prompt ${JSON.stringify(name.slice(0, 100))}; they go by the names that the server itself gives.`,
    }));

  return [
    implement(listServers, {
      read: async ({ server }, ctx) => {
        const { problems } = control.entries();
        const own = ownEntries(control, ctx.workspace);
        requireOwner(ctx, own.length > 0);
        const isWhole = ctx.workspace === DEFAULT_WORKSPACE_ID;
        const wanted = server === undefined ? own : [ownEntry(ctx, server)];
        const viewOf = withheldViewer(ctx, server !== undefined);
        const item = async (entry: ServerEntry) =>
          viewServer(entry, catalogue, control.status(entry.name), await viewOf(entry.name, catalogue.withheldOf(entry.name)));
        return ok({
          items: await Promise.all(wanted.map(item)),
          problems: [...(isWhole ? problems : []), ...wanted.flatMap(misnamed)],
          unconfigured: isWhole ? catalogue.unconfigured().filter((name) => !mayBeWritten(name)) : [],
        });
      },
    }),
    implement(restartServer, {
      run: async ({ server }, ctx) => {
        requireOwner(ctx, owns(ctx, server));
        // Not looked up first: it may have been written into the file a moment ago.
        await control.restart(server);
        const { name } = ownEntry(ctx, server);
        const { state, problem } = control.status(name);
        if (state === 'disabled')
          throw new Refusal('SERVER_DISABLED', `The server ${server} has enabled = false.`, 'Change that in secrets.toml.', { field: 'server' });
        if (state === 'stopped') {
          throw new Refusal('SERVERS_NOT_RUN', `No server of Covenant runs, so ${server} does not either.`, 'covenant up starts both.', { field: 'server' });
        }
        return ok({ server, state, problem }, problem ?? `${server} is ${state}.`);
      },
    }),
    implement(approveServer, {
      run: async ({ server, ...selection }, ctx) => {
        ownEntry(ctx, server);
        const { chosen, left } = await catalogue.approve(server, selection, { actor: ctx.principal.actor });
        const view = withheldViewer(ctx, false);
        const data = { server, approved: await view(server, chosen), left: await view(server, left) };
        return chosen.length > 0 ? ok(data, `Approved ${chosen.length} of ${server}.`) : nothingDecided(server, selection.tool, left, 'approved', data);
      },
    }),
    implement(rejectServer, {
      run: async ({ server, ...selection }, ctx) => {
        ownEntry(ctx, server);
        const { chosen, left } = await catalogue.reject(server, selection, { actor: ctx.principal.actor });
        const view = withheldViewer(ctx, false);
        const data = { server, rejected: await view(server, chosen), left: await view(server, left) };
        return chosen.length > 0 ? ok(data, `Rejected ${chosen.length} of ${server}.`) : nothingDecided(server, selection.tool, left, 'rejected', data);
      },
    }),
    implement(forgetServer, {
      run: async ({ server }, ctx) => {
        requireOwner(ctx, false);
        if (mayBeWritten(server)) {
          const message = `The server ${server} is in secrets.toml, or in a part of it that cannot be read.`;
          throw new Refusal('SERVER_CONFIGURED', message, 'Remove its table first; covenant servers list shows what is wrong in the file.', {
            field: 'server',
          });
        }
        if (!catalogue.isKnown(server)) {
          const message = `Nothing is known of a server ${JSON.stringify(server)}.`;
          throw notFound('SERVER_NOT_FOUND', message, 'covenant servers list shows what can be forgotten.', 'server');
        }
        await catalogue.forget(server, { actor: ctx.principal.actor });
        return ok({ server }, `Forgot ${server}. Grants for its tools stay: covenant capabilities list.`);
      },
    }),
    implement(serverLogs, {
      read: async ({ server, lines }, ctx) => {
        const conceal = concealer(ownEntry(ctx, server));
        return ok({ server, lines: (await control.log(server, lines)).map(conceal) });
      },
    }),
  ];
}

const ownEntries = (control: ServerControl, workspace: string): ServerEntry[] =>
  control.entries().entries.filter(({ workspace: owner = DEFAULT_WORKSPACE_ID }) => owner === workspace);

/** The entries of the file are the whole server's: an operator of another workspace has no say in them. */
function requireOwner({ workspace }: Pick<CallContext, 'workspace'>, owns: boolean): void {
  if (owns || workspace === DEFAULT_WORKSPACE_ID) return;
  throw new Refusal('OPERATOR_REQUIRED', 'External servers belong to the whole server, not to this workspace.', 'Ask the operator of the default workspace.');
}

function nothingDecided<T extends Record<string, unknown>>(
  server: string,
  tool: string | undefined,
  left: readonly WithheldDefinition[],
  done: 'approved' | 'rejected',
  data: T,
): Refused<T> {
  const nothing = `Nothing of ${server}${tool === undefined ? '' : ` called ${tool}`} is withheld; nothing was changed.`;
  if (left.length === 0) return refused('warning', 'NOTHING_WITHHELD', nothing, 'covenant servers list', data);
  const code = done === 'approved' ? 'NOT_APPROVED' : 'NOT_REJECTED';
  return refused('warning', code, whyLeft(server, left, done), 'covenant servers list', data);
}

function whyLeft(server: string, left: readonly WithheldDefinition[], done: string): string {
  const taken = left.filter(({ reason }) => reason === 'name_taken');
  if (taken.length === left.length)
    return `The name of ${taken.map(({ exposed }) => exposed).join(', ')} is another tool's; nothing of ${server} was ${done}, and that would not change it.`;
  return `What is withheld of ${server} is no longer as it was shown; nothing was ${done}.`;
}

function viewServer(entry: ServerEntry, catalogue: ServerCatalogue, status: ServerStatus, withheld: WithheldView[]) {
  const { name, line, transport, enabled, lazy, prefix, workspaces, timeoutMs } = entry;
  const facts = catalogue.known(name);
  const count = (offered: readonly { entry: ServerEntry }[]) => offered.filter((one) => one.entry.name === name).length;
  return {
    name,
    line,
    transport: transport.kind,
    target: targetOf(entry),
    enabled,
    lazy,
    prefix,
    workspaces: [...workspaces],
    timeout_ms: timeoutMs,
    ...status,
    problem: status.problem === null ? null : concealer(entry)(status.problem),
    protocol_version: status.protocol_version ?? facts?.protocolVersion ?? null,
    server_info: facts?.serverInfo ? { name: textOf(facts.serverInfo.name), version: textOf(facts.serverInfo.version) } : null,
    tools: count(catalogue.tools()),
    prompts: count(catalogue.prompts()),
    resources: facts?.resources.length ?? 0,
    withheld,
  };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value.slice(0, 200) : null);

type WithheldView = Output<typeof listServers>['items'][number]['withheld'][number];

/** `isWhole`: nothing is cut. */
function withheldViewer({ reader, workspace, principal }: CallContext, isWhole: boolean) {
  return async (server: string, withheld: readonly WithheldDefinition[]): Promise<WithheldView[]> => {
    if (withheld.length === 0) return [];
    const rejections = await rejectionsOf(reader, server);
    const actors = [...rejections.values()].map(({ actor }) => actor);
    const name = await grantSubjects.names(reader, workspace, principal, actors);
    return withheld.map(({ server: _, before, after, ...shown }) => {
      const { changes, more } = differenceOf(before, after, isWhole);
      const rejection = rejections.get(shown.fingerprint);
      return { ...shown, rejected: rejection ? { by: name(rejection.actor), at: rejection.at } : null, difference: changes, more_changes: more };
    });
  };
}

/** The workspace's own servers of which definitions wait for a decision, and how many. Rejected definitions wait for nobody. */
export async function undecidedServers(
  catalogue: ServerCatalogue,
  control: ServerControl,
  db: Db,
  workspace: string,
): Promise<{ server: string; definitions: number }[]> {
  const servers: { server: string; definitions: number }[] = [];
  for (const { name: server } of ownEntries(control, workspace)) {
    const withheld = catalogue.withheldOf(server);
    if (withheld.length === 0) continue;
    const rejections = await rejectionsOf(db, server);
    const definitions = withheld.filter(({ fingerprint }) => !rejections.has(fingerprint)).length;
    if (definitions > 0) servers.push({ server, definitions });
  }
  return servers;
}
