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

/** What the server actions need: the running servers or, in a process that runs none, the configured servers. */
export interface ServerControl {
  entries(): { readonly entries: readonly ServerEntry[]; readonly problems: readonly EntryProblem[] };
  status(server: string): ServerStatus;
  /** Reads the file again and restarts the server. Resolves when the server is up or has failed to start. */
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
      throw new Refusal('SERVER_SKIPPED', message, `Correct ${fault.line === null ? 'that' : `line ${fault.line}`} in secrets.toml, then repeat the call.`, {
        field: 'server',
      });
    }
    const known = entries.map(({ name }) => name).join(', ');
    throw notFound(
      'SERVER_NOT_FOUND',
      `secrets.toml has no server named ${JSON.stringify(server)}.${known ? ` It has ${known}.` : ''}`,
      'Run `covenant servers list`, which also shows skipped entries and why.',
      'server',
    );
  };

  const owns = ({ workspace }: Pick<CallContext, 'workspace'>, server: string): boolean => ownEntries(control, workspace).some(({ name }) => name === server);

  const ownEntry = (ctx: Pick<CallContext, 'workspace'>, server: string): ServerEntry => {
    requireOwner(ctx, owns(ctx, server));
    return entryOf(server);
  };

  /** Whether the server may still be in the file. A fault can hide its table, and some faults do not show which server they belong to. */
  const mayBeWritten = (server: string): boolean => {
    const { entries, problems } = control.entries();
    const isHidden = ({ line, server: whose }: EntryProblem) => whose === server || (whose === null && (line !== null || entries.length === 0));
    return entries.some(({ name }) => name === server) || problems.some(isHidden);
  };

  /** Reports names that match nothing. An `exclude` with a wrong name is as dangerous as a missing `exclude`. */
  const misnamed = (entry: ServerEntry): EntryProblem[] =>
    catalogue.notThere(entry).map((name) => ({
      line: entry.line,
      server: entry.name,
      message: `include, exclude: the server has no tool or prompt ${JSON.stringify(name.slice(0, 100))}. Use the server's own names.`,
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
        // The restart reads the file again, so the server is looked up only afterwards. It may be new in the file.
        await control.restart(server);
        const { name } = ownEntry(ctx, server);
        const { state, problem } = control.status(name);
        if (state === 'disabled')
          throw new Refusal(
            'SERVER_DISABLED',
            `The server ${server} is disabled by \`enabled = false\`.`,
            'Set `enabled = true` in its entry in secrets.toml, then repeat the call.',
            { field: 'server' },
          );
        if (state === 'stopped') {
          throw new Refusal('SERVERS_NOT_RUN', `No Covenant server is running, so ${server} is not running either.`, 'Run `covenant up` to start both.', {
            field: 'server',
          });
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
        return chosen.length > 0
          ? ok(data, `Approved ${chosen.length} definition(s) of ${server}.`)
          : nothingDecided(server, selection.tool, left, 'approved', data);
      },
    }),
    implement(rejectServer, {
      run: async ({ server, ...selection }, ctx) => {
        ownEntry(ctx, server);
        const { chosen, left } = await catalogue.reject(server, selection, { actor: ctx.principal.actor });
        const view = withheldViewer(ctx, false);
        const data = { server, rejected: await view(server, chosen), left: await view(server, left) };
        return chosen.length > 0
          ? ok(data, `Rejected ${chosen.length} definition(s) of ${server}.`)
          : nothingDecided(server, selection.tool, left, 'rejected', data);
      },
    }),
    implement(forgetServer, {
      run: async ({ server }, ctx) => {
        requireOwner(ctx, false);
        if (mayBeWritten(server)) {
          const message = `The server ${server} is still in secrets.toml, or in a part of it that cannot be parsed.`;
          throw new Refusal(
            'SERVER_CONFIGURED',
            message,
            'Remove its table from secrets.toml, then repeat the call. `covenant servers list` shows faults of the file.',
            {
              field: 'server',
            },
          );
        }
        if (!catalogue.isKnown(server)) {
          const message = `Nothing is stored about a server named ${JSON.stringify(server)}.`;
          throw notFound('SERVER_NOT_FOUND', message, 'Run `covenant servers list` for the servers that can be forgotten.', 'server');
        }
        await catalogue.forget(server, { actor: ctx.principal.actor });
        return ok({ server }, `Forgot ${server}. Grants for its tools remain: see \`covenant capabilities list\`.`);
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

/** Refuses operators of other workspaces than the default one, because the entries of the file belong to the whole Covenant server. */
function requireOwner({ workspace }: Pick<CallContext, 'workspace'>, owns: boolean): void {
  if (owns || workspace === DEFAULT_WORKSPACE_ID) return;
  throw new Refusal(
    'OPERATOR_REQUIRED',
    'External servers belong to the whole server, not to this workspace.',
    'Ask the operator of the default workspace to make this call.',
  );
}

function nothingDecided<T extends Record<string, unknown>>(
  server: string,
  tool: string | undefined,
  left: readonly WithheldDefinition[],
  done: 'approved' | 'rejected',
  data: T,
): Refused<T> {
  const nothing = `The server ${server} has no withheld definition${tool === undefined ? '' : ` named ${tool}`}. Nothing was changed.`;
  if (left.length === 0) return refused('warning', 'NOTHING_WITHHELD', nothing, 'Run `covenant servers list` for withheld definitions.', data);
  const code = done === 'approved' ? 'NOT_APPROVED' : 'NOT_REJECTED';
  const taken = left.filter(({ reason }) => reason === 'name_taken');
  if (taken.length === left.length) {
    const why = `Another tool has the name ${taken.map(({ exposed }) => exposed).join(', ')}, so nothing of ${server} can be ${done}.`;
    return refused('warning', code, why, 'Run `covenant servers list` to find the tool with that name.', data);
  }
  const changed = `The withheld definitions of ${server} changed after they were shown. Nothing was ${done}.`;
  const look = `\`covenant servers approve ${server}\` at a terminal`;
  const next =
    done === 'approved'
      ? `Run ${look}: it shows the new difference and asks.`
      : `Read the new difference on the dashboard, or run ${look} and answer no. Then run \`covenant servers reject ${server}\`.`;
  return refused('warning', code, changed, next, data);
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

/** Shows withheld definitions with their differences. If `isWhole` is true, the differences are not cut. */
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

/** The servers of the workspace that have undecided definitions, and the number of these. Rejected definitions are not counted. */
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
