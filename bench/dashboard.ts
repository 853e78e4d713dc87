import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { firstDeveloper, makeSigninLink } from '../src/features/core/identity/index.ts';
import { DASHBOARD_FOLDER } from '../src/surfaces/http/dashboard.ts';
import { createMetrics } from '../src/surfaces/http/metrics.ts';
import { serve } from '../src/surfaces/http/server.ts';
import { launchBrowser } from '../src/testing/browser.ts';
import { developer, openApp } from './app.ts';
import type { Benchmark, BenchmarkReport } from './benchmark.ts';
import { fill, type StoreSize } from './dashboard-store.ts';
import { QUICK } from './effort.ts';

const MUCH: StoreSize = QUICK ? { tasks: 100, events: 1_000, graph: 100 } : { tasks: 10_000, events: 100_000, graph: 5_000 };
const LITTLE: StoreSize = { tasks: 20, events: 100, graph: 20 };
/** The factor by which the browser is slowed down, to about the speed of an old laptop. */
const SLOWDOWN = 4;

interface PageVisit {
  readonly name: string;
  readonly path: string;
  /** A selector for the main content. The page counts as loaded when this content is visible. */
  readonly shows: string;
}

interface PageTimes {
  readonly painted: number;
  readonly usable: number;
  /** The longest time during which the page handled no click. */
  readonly held: number;
  readonly rows: number;
}

/** Compares pages on a large store with the same pages on a small store, in a real browser that is slowed down. */
export const dashboard: Benchmark = async (report) => {
  if (!existsSync(DASHBOARD_FOLDER)) throw new Error('The dashboard is not built: npm run build');
  const browser = await launchBrowser();
  try {
    report.step('pages on a small store');
    const little = await measured(browser, LITTLE);
    report.step('pages on a large store');
    const much = await measured(browser, MUCH);
    for (const [name, seen] of much) reportFigures(report, name, seen, little.get(name) as PageTimes);
  } finally {
    await browser.close();
  }
};

function reportFigures(report: BenchmarkReport, page: string, much: PageTimes, little: PageTimes): void {
  const line = (what: string, of: (seen: PageTimes) => number, unit: string) =>
    report.figure({ name: `${page}: ${what}`, value: of(much), unit, baseline: { name: 'on a small store', value: of(little), unit } });
  line('first paint', ({ painted }) => painted, 'ms');
  line('usable', ({ usable }) => usable, 'ms');
  line('longest main-thread block', ({ held }) => held, 'ms');
  line('rows or nodes in the page', ({ rows }) => rows, '');
}

async function measured(browser: Browser, size: StoreSize): Promise<Map<string, PageTimes>> {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-bench-'));
  const app = await openApp({ path: join(folder, 'covenant.db') });
  const server = await serve({ app, metrics: createMetrics() });
  try {
    const principal = await developer(app);
    const workflow = await fill(app, principal, size);
    const link = await app.store.write(principal.workspace, async (tx) => {
      const person = await firstDeveloper(tx.db, tx.workspace);
      if (!person) throw new Error('there is nobody to sign in');
      return await makeSigninLink(tx, person, 'operator');
    });
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.addInitScript(watchTasks);
    await page.goto(server.url + link.path);
    await page.waitForURL((url) => !url.pathname.startsWith('/signin/'));
    const looks: PageVisit[] = [
      { name: 'Now', path: '/', shows: 'main h2' },
      { name: 'Work', path: '/tasks', shows: 'main [data-row]' },
      { name: 'Activity', path: '/activity', shows: 'main [data-row]' },
      { name: 'Workflow', path: `/workflows/${workflow}`, shows: '.react-flow__node' },
    ];
    const seen = new Map<string, PageTimes>();
    for (const look of looks) seen.set(look.name, await visitPage(page, server.url, look));
    await context.close();
    return seen;
  } finally {
    await server.close();
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function visitPage(page: Page, url: string, { path, shows }: PageVisit): Promise<PageTimes> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
  await page.goto(url + path);
  await page.locator(shows).first().waitFor({ timeout: 60_000 });
  const usable = await page.evaluate(() => performance.now());
  // Work after the page became usable may still block the main thread.
  await page.waitForTimeout(3_000);
  const rest = await page.evaluate((selector) => {
    const paint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0;
    return { paint, held: (window as unknown as { held: number }).held, rows: document.querySelectorAll(selector).length };
  }, shows);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  return { painted: Math.round(rest.paint), usable: Math.round(usable), held: Math.round(rest.held), rows: rest.rows };
}

/** Records long tasks of the main thread. This function runs inside the page. */
function watchTasks(): void {
  const seen = window as unknown as { held: number };
  seen.held = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) seen.held = Math.max(seen.held, entry.duration);
  }).observe({ type: 'longtask', buffered: true });
}
