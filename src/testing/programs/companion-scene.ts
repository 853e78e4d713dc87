import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestApp, type TestCaller, testApp } from '../app.ts';
import { type TestRepository, temporaryRepository } from '../scenes/repository.ts';
import { recordTraffic, type Traffic } from '../stand-ins/traffic.ts';
import { type TestMachine, testMachine } from './companion.ts';

/**
 * A scene with Ana's machine, which has a repository and agents with their own tokens. Ben works on another machine. All requests from Ana's machine are
 * recorded.
 */
export interface CompanionScene {
  readonly t: TestApp;
  readonly traffic: Traffic;
  readonly machine: TestMachine;
  readonly repository: TestRepository;
  readonly ana: TestCaller;
  readonly ben: TestCaller;
  /** Claims a file of the repository for another caller, and returns the id of the claim. */
  claim(caller: TestCaller, path: string): Promise<string>;
}

export async function companionScene(): Promise<CompanionScene> {
  const t = await testApp();
  const traffic = await recordTraffic((await t.serve()).url);
  const machine = testMachine();
  const repository = temporaryRepository();
  const [ana, ben] = [await t.developer('ana', 'claude-code'), await t.developer('ben', 'codex')];
  storeTokens(machine, { 'claude-code': ana.token, gemini: (await t.developer('ana', 'gemini')).token });
  return {
    t,
    traffic,
    machine,
    repository,
    ana,
    ben,
    async claim(caller, path) {
      const { body } = await t.tool('covibe_coordination', { operation: 'claim', repo: 'app', paths: [path], reason: 'rotating the keys' }, caller);
      return (body as { data: { claim_id: string } }).data.claim_id;
    },
  };
}

export function storeTokens({ home }: TestMachine, tokens: Record<string, string>): void {
  mkdirSync(join(home, '.covibe'), { recursive: true });
  writeFileSync(join(home, '.covibe/credentials.json'), JSON.stringify({ tokens }), { mode: 0o600 });
}
