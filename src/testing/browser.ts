import { existsSync } from 'node:fs';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];

/** `--disable-gpu` avoids rendering a graphics card in software, which would take a quarter of the processor time. */
const ARGS = ['--no-sandbox', '--disable-gpu'];

/** Unpacks the browser before the first test, because two processes that unpack it at the same time would disturb each other. */
export default async function unpackBrowser(): Promise<void> {
  if (!installedBrowser()) await chromium.executablePath();
}

const installedBrowser = (): string | undefined => [process.env.CHROME_PATH, ...INSTALLED].find((path) => path && existsSync(path));

/** Starts the Chromium of this machine. If there is none, starts the one from npm. */
export async function launchBrowser(): Promise<Browser> {
  return await playwright.launch({ executablePath: installedBrowser() ?? (await chromium.executablePath()), args: ARGS });
}
