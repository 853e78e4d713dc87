import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

interface Finding {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary?: string }[];
}

/** Which rules of axe are broken by what the page shows at this moment, dialogs included. */
export async function violations(page: Page): Promise<string[]> {
  // Straight into the page: its policy lets no other script in.
  const findings = await page.evaluate(`${axe.source}; axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`);
  return (findings as Finding[]).flatMap(({ id, impact, nodes }) => nodes.map((node) => `${id} (${impact}): ${node.html.slice(0, 200)}`));
}

export async function isAccessible(page: Page): Promise<void> {
  expect(await violations(page)).toEqual([]);
}
