import type { CallContext } from '../../kernel/context.ts';
import { Refusal } from '../../kernel/errors.ts';
import { ok, refused } from '../../kernel/reply.ts';
import { type Implementation, implement } from '../../kernel/tool.ts';
import { DEFAULT_WORKSPACE_ID } from '../../kernel/workspace.ts';
import type { Catalogue } from './catalogue.ts';
import { concealer, targetOf } from './conceal.ts';
import { approveServer, forgetServer, listServers, restartServer, serverLogs } from './contract.ts';
import { differenceOf } from './difference.ts';
import type { Entry, EntryProblem } from './entry.ts';
import type { ServerStatus } from './listing.ts';
import type { Withheld } from './pins.ts';

/** The servers as they run; in a process that runs none, as they are configured. */
export interface ServerControl {
  entries(): { readonly entries: readonly Entry[]; readonly problems: readonly EntryProblem[] };
  status(server: string): ServerStatus;
  /** Reads the file again first. Resolves when it is up or has failed to start. */
  restart(server: string): Promise<void>;
  log(server: string, lines: number): Promise<readonly string[]>;
}

export function serverTools(catalogue: Catalogue, control: ServerControl): Implementation[] {
  const entryOf = (server: string): Entry => {
    const { entries, problems } = control.entries();
    const entry = entries.find(({ name }) => name === server);
    if (entry) return entry;
    const fault = problems.find((problem) => problem.server === server);
    if (fault) {
      const message = `The server ${server} is skipped: secrets.toml:${fault.line}: ${fault.message}`;
      throw new Refusal('SERVER_SKIPPED', message, 'Correct that line.', { field: 'server' });
    }
    const known = entries.map(({ name }) => name).join(', ');
    throw new Refusal(
      'SERVER_NOT_FOUND',
      `There is no server ${JSON.stringify(server)} in secrets.toml${known ? `; there is ${known}` : ''}.`,
      'covenant servers list also shows entries that were skipped, and why.',
      { field: 'server' },
    );
  };

  /** One that is skipped because of a fault is in the file all the same; and whose a fault is cannot always be read. */
  const mayBeWritten = (server: string): boolean => {
    const { entries, problems } = control.entries();
    const isHidden = ({ line, server: whose }: EntryProblem) => whose === server || (whose === null && (line !== null || entries.length === 0));
    return entries.some(({ name }) => name === server) || problems.some(isHidden);
  };

  /** An `exclude` that means nothing is as bad as one that is missing. */
  const misnamed = (entry: Entry): EntryProblem[] =>
    catalogue.notThere(entry).map((name) => ({
      line: entry.line,
      server: entry.name,
      message: `include, exclude: it has no tool or prompt ${JSON.stringify(name.slice(0, 100))}; they go by the names that the server itself gives.`,
    }));

  return [
    implement(listServers, {
      read: async ({ server }, ctx) => {
        forWholeServer(ctx);
        const { entries, problems } = control.entries();
        const wanted = server === undefined ? entries : [entryOf(server)];
        const items = wanted.map((entry) => itemOf(entry, catalogue, control.status(entry.name), server !== undefined));
        return ok({
          items,
          problems: [...problems, ...wanted.flatMap(misnamed)],
          unconfigured: catalogue.unconfigured().filter((name) => !mayBeWritten(name)),
        });
      },
    }),
    implement(restartServer, {
      run: async ({ server }, ctx) => {
        forWholeServer(ctx);
        // Not looked up first: it may have been written into the file a moment ago.
        await control.restart(server);
        const { name } = entryOf(server);
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
      run: async ({ server, tool, fingerprints }, ctx) => {
        forWholeServer(ctx);
        entryOf(server);
        const { approved, left } = await catalogue.approve(server, { tool, fingerprints }, { actor: ctx.principal.actor });
        const data = { server, approved: approved.map((one) => withheldView(one)), left: left.map((one) => withheldView(one)) };
        if (approved.length > 0) return ok(data, `Approved ${approved.length} of ${server}.`);
        const message =
          left.length > 0 ? whyLeft(server, left) : `Nothing of ${server}${tool === undefined ? '' : ` called ${tool}`} is withheld; nothing was changed.`;
        return refused('warning', left.length > 0 ? 'NOT_APPROVED' : 'NOTHING_WITHHELD', message, 'covenant servers list', data);
      },
    }),
    implement(forgetServer, {
      run: async ({ server }, ctx) => {
        forWholeServer(ctx);
        if (mayBeWritten(server)) {
          const message = `The server ${server} is in secrets.toml, or in a part of it that cannot be read.`;
          throw new Refusal('SERVER_CONFIGURED', message, 'Remove its table first; covenant servers list shows what is wrong in the file.', {
            field: 'server',
          });
        }
        if (!catalogue.isKnown(server)) {
          const message = `Nothing is known of a server ${JSON.stringify(server)}.`;
          throw new Refusal('SERVER_NOT_FOUND', message, 'covenant servers list shows what can be forgotten.', { field: 'server' });
        }
        await catalogue.forget(server, { actor: ctx.principal.actor });
        return ok({ server }, `Forgot ${server}. Grants for its tools stay: covenant capabilities list.`);
      },
    }),
    implement(serverLogs, {
      read: async ({ server, lines }, ctx) => {
        forWholeServer(ctx);
        const conceal = concealer(entryOf(server));
        return ok({ server, lines: (await control.log(server, lines)).map(conceal) });
      },
    }),
  ];
}

/** The entries are the whole server's: an operator of another workspace has no say in them. */
function forWholeServer({ workspace }: Pick<CallContext, 'workspace'>): void {
  if (workspace === DEFAULT_WORKSPACE_ID) return;
  throw new Refusal('OPERATOR_REQUIRED', 'External servers belong to the whole server, not to this workspace.', 'Ask the operator of the default workspace.');
}

function whyLeft(server: string, left: readonly Withheld[]): string {
  const taken = left.filter(({ reason }) => reason === 'name_taken');
  if (taken.length === left.length)
    return `The name of ${taken.map(({ exposed }) => exposed).join(', ')} is another tool's; approving ${server} does not change that.`;
  return `What is withheld of ${server} is no longer as it was shown; nothing was approved.`;
}

function itemOf(entry: Entry, catalogue: Catalogue, status: ServerStatus, isWhole: boolean) {
  const { name, line, transport, enabled, lazy, prefix, timeoutMs } = entry;
  const facts = catalogue.known(name);
  const count = (offered: readonly { entry: Entry }[]) => offered.filter((one) => one.entry.name === name).length;
  return {
    name,
    line,
    transport: transport.kind,
    target: targetOf(entry),
    enabled,
    lazy,
    prefix,
    timeout_ms: timeoutMs,
    state: status.state,
    problem: status.problem === null ? null : concealer(entry)(status.problem),
    pid: status.pid,
    since: status.since,
    restarts: status.restarts,
    next_start_at: status.nextStartAt,
    protocol_version: status.protocolVersion ?? facts?.protocolVersion ?? null,
    server_info: facts?.serverInfo ? { name: textOf(facts.serverInfo.name), version: textOf(facts.serverInfo.version) } : null,
    tools: count(catalogue.tools()),
    prompts: count(catalogue.prompts()),
    resources: facts?.resources.length ?? 0,
    withheld: catalogue.withheldOf(name).map((one) => withheldView(one, isWhole)),
  };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value.slice(0, 200) : null);

function withheldView({ kind, name, exposed, reason, renamedFrom, fingerprint, before, after }: Withheld, isWhole = false) {
  const { changes, more } = differenceOf(before, after, isWhole);
  return { kind, name, exposed, reason, renamed_from: renamedFrom, fingerprint, difference: [...changes], more_changes: more };
}
