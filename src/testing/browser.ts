import { existsSync } from 'node:fs';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];

/** Without an imitated graphics card, which would take a quarter of the processor time. */
const ARGS = ['--no-sandbox', '--disable-gpu'];

/** Before the first test: two that unpack it at the same time are in each other's way. */
export default async function unpackBrowser(): Promise<void> {
  if (!installedBrowser()) await chromium.executablePath();
}

const installedBrowser = (): string | undefined => [process.env.CHROME_PATH, ...INSTALLED].find((path) => path && existsSync(path));

/** The Chromium of this machine, or the one that npm brought. */
export async function launchBrowser(): Promise<Browser> {
  return await playwright.launch({ executablePath: installedBrowser() ?? (await chromium.executablePath()), args: ARGS });
}
