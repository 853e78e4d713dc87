import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

interface Finding {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary?: string }[];
}

/** The axe violations of the current page, including dialogs. */
export async function violations(page: Page): Promise<string[]> {
  // Evaluated in the page, because its content policy forbids loading scripts.
  const findings = await page.evaluate(`${axe.source}; axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`);
  return (findings as Finding[]).flatMap(({ id, impact, nodes }) => nodes.map((node) => `${id} (${impact}): ${node.html.slice(0, 200)}`));
}

export async function isAccessible(page: Page): Promise<void> {
  expect(await violations(page)).toEqual([]);
}
