import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { DEFAULT_WORKSPACE_ID } from '../../kernel/ids.ts';
import { type TestApp, type TestCaller, testApp } from '../app.ts';
import { temporaryDatabase } from '../store/database.ts';
import { until } from '../until.ts';
import { serveFixture } from './conformance-server.ts';

const STDIO = fileURLToPath(new URL('conformance-stdio.ts', import.meta.url));

async function overHttp(eras: 'both' | 'legacy'): Promise<string> {
  const fixture = await serveFixture(eras);
  onTestFinished(() => fixture.close());
  return `url = "${fixture.url}"`;
}

const overStdio = (protocol: 'legacy' | 'modern') => `command = "${process.execPath}"\nargs = ["${STDIO}"]\nprotocol = "${protocol}"`;

/** The transports over which the gateway can connect to the conformance server. */
export const WAYS = {
  'HTTP in both eras': () => overHttp('both'),
  'HTTP in the older era alone': () => overHttp('legacy'),
  'stdio in the newer era': async () => overStdio('modern'),
  'stdio in the older era': async () => overStdio('legacy'),
};
export type Way = keyof typeof WAYS;

export interface Gateway extends TestApp {
  /** The address at which the gateway serves the tools of external servers. */
  readonly url: string;
  readonly ana: TestCaller;
}

/** Sets up a gateway whose only server is the conformance server. The tools have no name prefix, and one developer may call all of them. */
export async function fixtureGateway(way: Way): Promise<Gateway> {
  const database = await temporaryDatabase();
  const entry = await WAYS[way]();
  writeFileSync(join(database.home, 'secrets.toml'), `[[mcp.server]]\nname = "fixture"\nprefix = false\n${entry}\n`, { mode: 0o600 });
  const made = await testApp({ database });
  const { url } = await made.serve();
  const ana = await made.developer('ana');
  const { upstreams } = made.app;
  await until(() => expect(upstreams.in(DEFAULT_WORKSPACE_ID).tools.tools()).not.toEqual([]));
  const tools = upstreams
    .in(DEFAULT_WORKSPACE_ID)
    .tools.tools()
    .map(({ name }) => `tool.call.${name}`);
  const prompts = upstreams
    .in(DEFAULT_WORKSPACE_ID)
    .prompts()
    .map(({ name }) => `prompt.get.${name}`);
  await Promise.all([...tools, ...prompts, 'resource.read.fixture'].map((action) => made.done('capabilities.grant', { action, developer: 'ana' })));
  return { ...made, url: `${url}/mcp/gateway`, ana };
}
