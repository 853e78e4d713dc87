import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary?: string }[];
}

/** No rule of axe is broken by what the page shows at this moment, dialogs included. */
export async function isAccessible(page: Page): Promise<void> {
  // Straight into the page: its policy lets no other script in.
  const findings = await page.evaluate(`${source}; axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`);
  const told = (findings as Finding[]).flatMap(({ id, impact, nodes }) => nodes.map((node) => `${id} (${impact}): ${node.html.slice(0, 200)}`));
  expect(told).toEqual([]);
}
