import { expect, test } from 'vitest';
import type { CommandResult, Invocation } from '../../src/surfaces/cli/command.ts';
import { usageCommand } from '../../src/surfaces/cli/commands/usage.ts';
import { type TestApp, type TestCaller, testApp } from '../../src/testing/app.ts';
import { testClock } from '../../src/testing/clock.ts';
import { isAccessible } from './axe.ts';
import { live, openBrowser, sideways, signedIn } from './browser.ts';

openBrowser();

/** Returns the output of `covenant usage --json`. */
async function command(t: TestApp, values: Invocation['values'] = {}): Promise<{ totals: Record<string, number> }> {
  const client = async () => ({ action: (name: string, input: object) => t.done(name, input) }) as never;
  const result = (await usageCommand.run({ values, positionals: [], json: true, out: { columns: 80 }, client } as unknown as Invocation)) as CommandResult;
  return result.json as never;
}

test('shows the same usage as the command, a dash for an unknown price, and applies a new price to later reports', async () => {
  const t = await testApp({ clock: testClock(Date.now()) });
  const [codex, claude] = [await t.developer('mira', 'codex'), await t.developer('ana', 'claude-code')];
  let turn = 0;
  const { session_id } = (await t.tool('covibe_session', { operation: 'start' }, claude)).reply.data as { session_id: string };
  const work = { title: '=SUM(A1), "quoted"', task_type: 'bug', session_id };
  await t.tool('covibe_task', { operation: 'check', ...work }, claude);
  await t.tool('covibe_task', { operation: 'start', ...work }, claude);
  const report = async (model: string, by: TestCaller) => {
    const payload = { turn: ++turn, model, usage: { input_tokens: 800_000, output_tokens: 1_234 } };
    const { reply } = await t.tool('covibe_ingest_agent_telemetry', { source: 'codex', payload, ...(by === claude && { session_id }) }, by);
    if (reply.status !== 'ok') throw new Error(reply.message);
  };
  const { page, errors } = await signedIn('/usage', {}, t, 'mira');
  await live(page);
  const watch = `npm exec -- covibe-local watch --base-url ${new URL(page.url()).origin}`;
  await page.getByRole('button', { name: `Copy ${watch}` }).waitFor();
  await page.getByRole('button', { name: `Copy ${watch.replace('watch', 'setup')}` }).waitFor();
  await isAccessible(page);

  await report('gpt-5-codex', codex);
  await report('acme-1', claude);
  const totals = page.getByRole('region', { name: 'Totals' });
  await totals.getByText('$1.01+').waitFor();
  const printed = (await command(t)).totals;
  expect(await totals.locator('dd').allInnerTexts()).toEqual(['$1.01+', '1,600,000', '0', '0', '2,468', '1']);
  expect(printed).toMatchObject({ input_tokens: 1_600_000, output_tokens: 2_468, cost_usd: 1.01234, unpriced: 1 });
  const table = page.getByRole('table', { name: 'Usage by agent' });
  await table.getByRole('row', { name: 'codex@mira gpt-5-codex 800,000 0 1,234 — $1.01' }).waitFor();
  await table.getByRole('row', { name: 'claude-code@ana acme-1 800,000 0 1,234 1 —' }).waitFor();
  await isAccessible(page);

  await page.getByRole('combobox', { name: 'By', exact: true }).selectOption('task');
  await page.getByRole('table', { name: 'Usage by task' }).getByRole('link', { name: work.title }).waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download CSV' }).click();
  const csv = (await (await (await download).createReadStream()).toArray()).join('');
  expect(csv).toContain('\r\n,,,mira,codex,gpt-5-codex,1,800000,0,0,1234,0,0,1.01234,0\r\n');
  expect(csv).toContain(`,"'=SUM(A1), ""quoted""",ana,claude-code,acme-1,1,800000,0,0,1234,0,1,,1\r\n`);

  await page.getByRole('combobox', { name: 'By', exact: true }).selectOption('day');
  await page.waitForURL(/by=day/);
  await page.getByRole('table', { name: 'Usage by day' }).getByRole('columnheader', { name: 'Day' }).waitFor();
  await page.getByText('Cost per day as a table').click();
  await page.getByRole('table', { name: 'Cost per day' }).getByText('$1.01').waitFor();
  await page.goto(`${page.url()}&prices=true`);
  const dialog = page.getByRole('dialog', { name: 'Prices' });
  await dialog.getByLabel(/^Model/).fill('acme-2');
  await dialog.getByLabel('Input', { exact: true }).fill('2');
  await dialog.getByLabel('Output', { exact: true }).fill('10');
  await dialog.getByText('covenant prices set --input=2 --output=10 acme-2').waitFor();
  await isAccessible(page);
  await dialog.getByRole('button', { name: 'Set price' }).click();
  await dialog.getByRole('table', { name: 'Set in this workspace' }).getByText('acme-2').waitFor();
  await report('acme-2', claude);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await totals.getByText('$2.62+').waitFor();
  await page.getByRole('button', { name: 'Edit prices' }).click();
  await dialog.getByRole('button', { name: 'Remove the price of acme-2' }).click();
  await page.getByRole('button', { name: 'Undo' }).click();
  await dialog.getByRole('table', { name: 'Set in this workspace' }).getByText('acme-2').waitFor();
  for (const width of [1440, 768, 360]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await sideways(page), String(width)).toBeLessThanOrEqual(0);
  }
  expect(errors).toEqual([]);
});
