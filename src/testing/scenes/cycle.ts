import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Db } from '../../storage/engine.ts';
import { type TestApp, type TestAppOptions, type TestCaller, testApp } from '../app.ts';
import { temporaryFolder } from '../store/database.ts';
import type { Body } from './workflow.ts';

export const PSKS = { gemini: 'GEMINI_SECRET', codex: 'CODEX_SECRET' } as const;
type Role = keyof typeof PSKS;

/** The configuration of the broker, as in the handbook. */
export const CONFIG = {
  version: '0.1',
  mode: 'approval',
  validation: 'basic',
  storage_path: '.mcp-broker',
  agents: { gemini: { psk: PSKS.gemini }, codex: { psk: PSKS.codex } },
};

/** Creates a folder with this broker configuration. With null, it has none. */
export function brokerRepository(config: object | string | null = CONFIG): string {
  const path = realpathSync(temporaryFolder());
  writeConfig(path, config);
  return path;
}

export function writeConfig(repository: string, config: object | string | null): void {
  if (config === null) return;
  mkdirSync(join(repository, '.mcp-broker'), { recursive: true });
  writeFileSync(join(repository, '.mcp-broker/config.json'), typeof config === 'string' ? config : JSON.stringify(config));
}

export const brokerFile = (repository: string, path: string): string => join(repository, '.mcp-broker', path);
export const readBroker = (repository: string, path: string): Body => JSON.parse(readFileSync(brokerFile(repository, path), 'utf8'));

/** Returns all files and folders of the broker except the file with the PSKs. The names of folders end with a slash, and their text is empty. */
export function filesOf(repository: string): Map<string, string> {
  const found = new Map<string, string>();
  const look = (folder: string) => {
    for (const entry of readdirSync(join(repository, '.mcp-broker', folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        found.set(`${path}/`, '');
        look(path);
      } else if (path !== 'config.json') found.set(path, readFileSync(brokerFile(repository, path), 'utf8'));
    }
  };
  look('');
  return found;
}

/** Checks that the broker's files contain exactly what the rows contain, and that there are no other files. */
export async function checkFiles(db: Db, repository: string): Promise<void> {
  const cycles = await db.selectFrom('cycles').selectAll().where('repository', '=', repository).orderBy('id').execute();
  const handoffs = await db.selectFrom('cycle_handoffs').selectAll().orderBy('number').execute();
  const given = (id: string) => new Map(handoffs.filter(({ cycle }) => cycle === id).map(({ target, payload }) => [target, JSON.parse(payload)]));
  const files = filesOf(repository);
  const read = (path: string) => JSON.parse(files.get(path) ?? 'null');
  const time = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  const names = new Set<string>();
  const active = cycles.find(({ status }) => status === 'active');
  if (cycles.length > 0) for (const name of ['state.json', 'lock.json', 'handoff/']) names.add(name);
  if (active) {
    const { cycle_id, feature, phase, active_role, lock_role, created_at, updated_at } = active;
    const present = given(active.id);
    const status = { gemini: present.has('gemini') ? 'present' : 'empty', codex: present.has('codex') ? 'present' : 'empty' };
    const times = { created_at: time(created_at), updated_at: time(updated_at) };
    expect(read('state.json')).toEqual({ active: true, mode: 'approval', cycle_id, feature, phase, active_role, ...times, handoff_status: status });
    expect(read('lock.json')).toMatchObject({ locked: true, role: lock_role, lock_token: '[redacted]', cycle_id });
    for (const [target, payload] of present) {
      names.add(`handoff/${target}.json`);
      expect(read(`handoff/${target}.json`)).toEqual(payload);
    }
  } else if (cycles.length > 0) {
    expect(read('state.json')).toMatchObject({ active: false, cycle_id: null, phase: null, active_role: null });
    expect(read('lock.json')).toMatchObject({ locked: false, role: null, lock_token: null });
  }
  for (const { id, cycle_id, feature, created_at, completed_at, ended_at } of cycles.filter(({ status }) => status === 'archived')) {
    const at = (name: string) => `archive/${cycle_id}/${name}`;
    for (const name of ['archive/', at(''), ...ARCHIVED.map(at)]) names.add(name);
    const times = { created_at: time(created_at), completed_at: time(completed_at), archived_at: time(ended_at) };
    expect(read(at('manifest.json'))).toEqual({ cycle_id, feature, ...times });
    expect(read(at('state.json'))).toMatchObject({ cycle_id, phase: 'complete' });
    for (const role of ['gemini', 'codex']) expect(read(at(`handoff.${role}.json`))).toEqual(given(id).get(role));
  }
  expect([...files.keys()].sort()).toEqual([...names].sort());
}

const ARCHIVED = ['config.json', 'state.json', 'lock.json', 'handoff.gemini.json', 'handoff.codex.json', 'manifest.json'];

export interface CycleApp extends TestApp {
  readonly repository: string;
  /** The default caller. Her agents play both roles. */
  readonly ana: TestCaller;
  readonly ben: TestCaller;
  /** Makes a call for the repository that must succeed, and returns its data. */
  ok(tool: string, args?: object, caller?: TestCaller): Promise<Body>;
  /** Makes a call that must be refused, and returns the error. */
  refused(tool: string, args?: object, caller?: TestCaller): Promise<Body>;
  open(role: Role, caller?: TestCaller): Promise<string>;
  /** Returns the payload of a handoff from the other role in the active cycle. */
  payload(target: Role, more?: object): Promise<Body>;
  /** Acquires the lock and writes a handoff. */
  handOver(target: Role, session_token: string, more?: object): Promise<Body>;
}

export async function cycleApp(options: TestAppOptions & { repository?: string } = {}): Promise<CycleApp> {
  const app = await testApp(options);
  const repository = options.repository ?? brokerRepository();
  const ana = await app.developer('ana');
  const ben = await app.developer('ben');
  const call = async (tool: string, args: object, caller: TestCaller, isError: boolean): Promise<Body> => {
    const answer = await app.tool(tool, { repository_path: repository, ...args }, caller);
    expect(answer.isError, `${tool} ${JSON.stringify(args)} answered ${JSON.stringify(answer.body)}`).toBe(isError);
    return answer.body;
  };
  const ok: CycleApp['ok'] = async (tool, args = {}, caller = ana) => (await call(tool, args, caller, false)).data;
  const payload: CycleApp['payload'] = async (target, more = {}) => {
    const { cycle_id, feature } = await ok('cycle.status');
    const lists = { files_modified: ['src/a.ts'], endpoints: [], data_shapes: [], assumptions: [], todos: [], notes: [] };
    return { cycle_id, feature, producer: target === 'codex' ? 'gemini' : 'codex', consumer: target, ...lists, ...more };
  };
  return {
    ...app,
    repository,
    ana,
    ben,
    ok,
    refused: async (tool, args = {}, caller = ana) => (await call(tool, args, caller, true)).error,
    open: async (role, caller = ana) => (await ok('session.open', { role, psk: PSKS[role] }, caller)).session_token,
    payload,
    async handOver(target, session_token, more = {}) {
      const { lock_token } = await ok('lock.acquire', { session_token });
      return await ok('handoff.write', { target, session_token, lock_token, payload: await payload(target), ...more });
    },
  };
}
