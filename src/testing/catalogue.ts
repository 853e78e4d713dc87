import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../config.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import type { PublishedTool } from '../kernel/publish.ts';
import { createApp } from '../main.ts';

/** Returns all tools of the whole product as the server publishes them. */
export async function publishedTools(): Promise<readonly PublishedTool[]> {
  const home = mkdtempSync(join(tmpdir(), 'covenant-tools-'));
  const app = await createApp({ config: loadConfig({ COVENANT_HOME: home }), clock: systemClock, log: createLog('error') });
  const tools = app.registry.tools();
  await app.close();
  rmSync(home, { recursive: true, force: true });
  return tools;
}
