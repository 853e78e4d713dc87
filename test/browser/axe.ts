import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

interface Finding {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary?: string }[];
}

/** Returns the accessibility violations that axe finds on the current page and in its dialogs. */
export async function violations(page: Page): Promise<string[]> {
  // The script is evaluated in the page, because the content policy forbids the page to load it.
  const findings = await page.evaluate(`${axe.source}; axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`);
  return (findings as Finding[]).flatMap(({ id, impact, nodes }) => nodes.map((node) => `${id} (${impact}): ${node.html.slice(0, 200)}`));
}

export async function isAccessible(page: Page): Promise<void> {
  expect(await violations(page)).toEqual([]);
}
