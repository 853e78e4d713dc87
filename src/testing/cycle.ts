import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type TestApp, type TestAppOptions, type TestCaller, testApp } from './app.ts';
import { temporaryFolder } from './database.ts';
import type { Body } from './workflow.ts';

export const PSKS = { gemini: 'GEMINI_SECRET', codex: 'CODEX_SECRET' } as const;
type Role = keyof typeof PSKS;

/** As the handbook shows it. */
export const CONFIG = {
  version: '0.1',
  mode: 'approval',
  validation: 'basic',
  storage_path: '.mcp-broker',
  agents: { gemini: { psk: PSKS.gemini }, codex: { psk: PSKS.codex } },
};

/** A folder with a broker configuration; null: without one. */
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

export interface CycleApp extends TestApp {
  readonly repository: string;
  /** Whose agents play both roles, unless a call names somebody else. */
  readonly ana: TestCaller;
  readonly ben: TestCaller;
  /** A call in the repository that must succeed; its data. */
  ok(tool: string, args?: object, caller?: TestCaller): Promise<Body>;
  /** A call that must be refused; the error. */
  refused(tool: string, args?: object, caller?: TestCaller): Promise<Body>;
  open(role: Role, caller?: TestCaller): Promise<string>;
  /** A payload from the other role, for the active cycle. */
  payload(target: Role, more?: object): Promise<Body>;
  /** Acquires the lock and hands over. */
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
