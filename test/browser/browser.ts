import { existsSync } from 'node:fs';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { DASHBOARD_FOLDER } from '../../src/surfaces/http/dashboard.ts';
import { type TestApp, testApp } from '../../src/testing/app.ts';
import { launchBrowser } from '../../src/testing/browser.ts';
import { severable } from './severable.ts';

/** The folder of the built dashboard. COVENANT_DASHBOARD selects another build. */
const DASHBOARD = process.env.COVENANT_DASHBOARD ?? DASHBOARD_FOLDER;

let browser: Browser;

/** Starts one browser for all tests of a file. */
export function openBrowser(): void {
  beforeAll(async () => {
    if (!existsSync(DASHBOARD)) throw new Error('The dashboard is not built: npm run build');
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
}

/** Starts a server with a developer and a sign-in link. The test can cut the connection to this server. */
export async function serveDashboard<T extends TestApp = TestApp>(t?: T, who = 'mira') {
  const app = t ?? ((await testApp()) as T);
  const server = await app.serve({ dashboard: DASHBOARD });
  await app.developer(who);
  const { path } = await app.done('signin.link', { developer: who });
  const way = await severable(server.url);
  return { t: app, way, url: way.url, link: way.url + String(path) };
}

export async function tab(options: BrowserContextOptions = {}): Promise<{ page: Page; context: BrowserContext; errors: string[]; hosts: Set<string> }> {
  // Set a locale, because Chromium reports an invalid one on a machine that has none.
  const context = await browser.newContext({ locale: 'en-US', ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const errors: string[] = [];
  const hosts = new Set<string>();
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  page.on('websocket', (socket) => hosts.add(new URL(socket.url()).host));
  return { page, context, errors, hosts };
}

export async function signedIn<T extends TestApp = TestApp>(path = '/', options: BrowserContextOptions = {}, t?: T, who?: string) {
  const place = await serveDashboard(t, who);
  const opened = await tab(options);
  await openLink(opened.page, place.link);
  if (path !== '/') await opened.page.goto(place.url + path);
  await opened.page.getByRole('heading', { level: 1 }).waitFor();
  return { ...place, ...opened };
}

/** Opens a sign-in link and waits until the page has used it. */
export async function openLink(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.waitForURL((url) => !url.pathname.startsWith('/signin/'));
}

/** Waits until the page receives live events. */
export const live = (page: Page) => page.locator('header').getByText('Live').waitFor();

export const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent);

/** Returns by how many pixels the page is wider than the window. */
export const sideways = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
