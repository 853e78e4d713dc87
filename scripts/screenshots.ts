/**
 * `npm run screenshots`: takes the pictures for the README while `covenant demo` runs on a separate server. With `-- --all FOLDER`, takes pictures of every
 * page, in three widths and both themes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from '../src/testing/browser.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const covenant = join(root, 'dist/bin/covenant.js');
const everything = process.argv.indexOf('--all');
const folder = everything < 0 ? join(root, 'docs/pictures') : String(process.argv[everything + 1]);

const README_PAGES = ['now', 'workflow', 'review', 'cycle', 'changes'];
const WIDTHS = everything < 0 ? [1440] : [1440, 768, 390];
const HEIGHTS: Record<number, number> = { 1440: 900, 768: 1024, 390: 844 };
/** The pictures are taken after this many steps. By then, the demo has shown everything except the return of the lost worker. */
const STEPS_BEFORE_PICTURES = 13;

const home = mkdtempSync(join(tmpdir(), 'covenant-pictures-'));
const env = { ...process.env, COVENANT_HOME: home, PORT: '0' };
const browser = await launchBrowser();
const server = spawn(process.execPath, [covenant, 'up', '--no-open', '--json', '--port', '0'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
let demo: ChildProcess | undefined;
try {
  await once(createInterface({ input: server.stdout }), 'line');
  demo = spawn(process.execPath, [covenant, 'demo', '--no-open', '--pace', '1', '--stay', '600'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const link = await linkAfter(demo, STEPS_BEFORE_PICTURES);
  mkdirSync(folder, { recursive: true });
  await takeAll(browser, link);
} finally {
  demo?.kill('SIGINT');
  if (demo && demo.exitCode === null) await once(demo, 'exit');
  server.kill('SIGTERM');
  await once(server, 'exit');
  await browser.close();
  rmSync(home, { recursive: true, force: true });
}

/** Waits until the demo has finished this number of steps, and returns its sign-in link. */
async function linkAfter(child: ChildProcess, steps: number): Promise<string> {
  let link = '';
  let done = 0;
  for await (const line of createInterface({ input: child.stderr as NodeJS.ReadableStream })) {
    process.stdout.write(`${line}\n`);
    link = /http\S+\/signin\/\S+/.exec(line)?.[0] ?? link;
    if (/^(\S+ scratch|\d\d:\d\d )/.test(line)) done++;
    if (done >= steps) break;
  }
  if (done < steps) throw new Error('the demo ended too early');
  return link;
}

async function takeAll(opened: Browser, link: string): Promise<void> {
  const first = await opened.newContext();
  const page = await first.newPage();
  await page.goto(link);
  await page.waitForURL((url) => !url.pathname.startsWith('/signin/'));
  await page.getByRole('heading', { level: 1 }).waitFor();
  const pages = await pagesOf(page);
  const state = await first.storageState();
  await first.close();
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of WIDTHS) {
      const context = await opened.newContext({
        storageState: state,
        // The chart library fails without a valid locale, and this browser has none by default.
        locale: 'en-GB',
        colorScheme,
        viewport: { width, height: HEIGHTS[width] ?? 900 },
        reducedMotion: 'reduce',
      });
      await takeEach(context, new URL(link).origin, pages, `${everything < 0 ? '' : `-${width}`}-${colorScheme}`);
      await context.close();
    }
  }
}

async function takeEach(context: BrowserContext, origin: string, pages: ReadonlyMap<string, string>, ending: string): Promise<void> {
  const page = await context.newPage();
  for (const [name, path] of pages) {
    if (everything < 0 && !README_PAGES.includes(name)) continue;
    await page.goto(origin + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle').catch(() => {});
    // Charts and graphs are painted shortly after their data has loaded.
    await page.waitForTimeout(400);
    await page.screenshot({ path: join(folder, `${name}${ending}.png`) });
  }
}

/** Returns the path of every page by a short name. The paths contain ids of rows that the demo has made. */
async function pagesOf(page: Page): Promise<Map<string, string>> {
  const ask = async (action: string, input: object = {}): Promise<Record<string, unknown>[]> =>
    await page.evaluate(
      async ([name, body]) => {
        const response = await fetch(`/api/actions/${name}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
        const answer = (await response.json()) as Record<string, Record<string, unknown>[]>;
        return answer.items ?? answer.workflows ?? [];
      },
      [action, input] as const,
    );
  const [workflow] = await ask('workflows.list');
  const instances = await ask('instances.list');
  const coder = instances.find(({ type, at_limit }) => type === 'coding' && at_limit === true) ?? instances.find(({ type }) => type === 'coding');
  const [cycle] = await ask('cycles.list');
  const agents = await ask('agents.list');
  const agent = agents.find(({ agent_id, name }) => agent_id !== null && name === 'codex@mira');
  const [overlap] = await ask('overlap.list');
  const id = (row: Record<string, unknown> | undefined, ...fields: string[]) =>
    encodeURIComponent(String(fields.map((field) => row?.[field]).find((value) => value) ?? ''));
  return new Map([
    ['now', '/'],
    ['agent', `/agents/${id(agent, 'agent_id')}`],
    ['work', '/tasks'],
    ['claims', '/tasks/claims'],
    ['overlaps', '/tasks/overlaps'],
    ['overlap', `/tasks/overlaps?warning=${id(overlap, 'warning_id', 'id')}`],
    ['week', '/tasks/week'],
    ['workflows', '/workflows'],
    ['workflow', `/workflows/${id(workflow, 'id', 'workflow_id')}`],
    ['timeline', `/workflows/${id(workflow, 'id', 'workflow_id')}/timeline`],
    ['workflow-list', `/workflows/${id(workflow, 'id', 'workflow_id')}/list`],
    ['reviews', '/reviews'],
    ['review', `/reviews/${id(coder, 'id')}`],
    ['diff', `/reviews/${id(coder, 'id')}/diff`],
    ['feedback', `/reviews/${id(coder, 'id')}/feedback`],
    ['history', `/reviews/${id(coder, 'id')}/history`],
    ['cycles', '/cycles'],
    ['cycle', `/cycles/${id(cycle, 'id', 'cycle_id')}`],
    ['handoff', `/cycles/${id(cycle, 'id', 'cycle_id')}?handoff=4`],
    ['messages', '/messages'],
    ['tools', '/tools'],
    ['servers', '/tools/servers'],
    ['grants', '/tools/grants'],
    ['changes', '/tools/changes?change=demo/tool/forecast'],
    ['activity', '/activity'],
    ['chain', '/activity/chain'],
    ['usage', '/usage'],
    ...['', '/agents', '/devices', '/members', '/roles', '/limits', '/retention', '/theme'].map((view): [string, string] => [
      `settings${view.replace('/', '-')}`,
      `/settings${view}`,
    ]),
  ]);
}
