import { existsSync } from 'node:fs';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];

/** Flags for a cloud function that would make the tests prove less: one process for all pages, and no same-origin rule. */
const UNWANTED = ['--single-process', '--disable-web-security', '--allow-running-insecure-content', '--disable-site-isolation-trials'];

/** Before the first test: two that unpack it at the same time are in each other's way. */
export default async function unpackBrowser(): Promise<void> {
  if (!installedBrowser()) await chromium.executablePath();
}

const installedBrowser = (): string | undefined => [process.env.CHROME_PATH, ...INSTALLED].find((path) => path && existsSync(path));

/** The Chromium of this machine, or the one that npm brought. */
export async function launchBrowser(): Promise<Browser> {
  const installed = installedBrowser();
  if (installed) return await playwright.launch({ executablePath: installed, args: ['--no-sandbox'] });
  const args = chromium.args.filter((flag) => !UNWANTED.includes(flag));
  return await playwright.launch({ executablePath: await chromium.executablePath(), args });
}
