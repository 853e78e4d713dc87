import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { router } from '../../web/router.tsx';
import { violations } from './axe.ts';
import { openBrowser, signedIn } from './browser.ts';
import { faultOf } from './known-command.ts';
import { type Ids, LINE, seeded } from './seeded.ts';

// The test uses only the addresses of the router. The components are replaced, because they need a browser.
vi.mock('../../web/shell/shell.tsx', () => ({ Shell: () => null }));
openBrowser();

/** An address of the dashboard, and what must be open or selected on that page. */
interface Address {
  readonly to: string;
  readonly opens?: true;
  readonly field?: readonly [name: string, value: string];
  /** A button to press, and the action that it must call. */
  readonly press?: readonly [button: string, action: string];
}

const page = (to: string): Address => ({ to });
const opened = (to: string): Address => ({ to, opens: true });
const pressed = (button: string, action: string, address: Address): Address => ({ ...address, press: [button, action] });
const narrowed = (to: string, name: string, value: string): Address => ({ to, field: [name, value] });

/** Returns addresses for all routes. Together they open every panel and dialog. */
const addressesOf = (ids: Ids, code: string): Record<string, readonly Address[]> => ({
  '/': [page('/'), opened(`/?question=${ids.question}`), opened(`/?approval=${ids.approval}`), opened(`/?ask=${ids.ask}`), opened(`/?overlap=${ids.warning}`)],
  '/agents/$agent': [page(`/agents/${encodeURIComponent(ids.agent)}`)],
  '/tasks': [page('/tasks'), opened(`/tasks?task=${ids.task}`), opened('/tasks?plan=true'), narrowed('/tasks?status=active', 'Status', 'active')],
  '/tasks/claims': [page('/tasks/claims'), opened(`/tasks/claims?claim=${ids.claim}`)],
  '/tasks/overlaps': [
    narrowed('/tasks/overlaps?status=open', 'Status', 'open'),
    opened(`/tasks/overlaps?warning=${ids.warning}`),
    pressed('Run audit', 'team.audit', page('/tasks/overlaps?audit=true')),
  ],
  '/tasks/week': [pressed('Generate', 'team.weekly_summary', page('/tasks/week'))],
  '/workflows': [narrowed('/workflows?status=in_progress', 'Status', 'in_progress')],
  '/workflows/$workflow': [page(`/workflows/${ids.workflow}`), opened(`/workflows/${ids.workflow}?task=${ids.step}`)],
  '/workflows/$workflow/timeline': [page(`/workflows/${ids.workflow}/timeline`), page(`/workflows/${ids.workflow}/timeline?as=table`)],
  '/workflows/$workflow/list': [
    opened(`/workflows/${ids.workflow}/list?task=${ids.step}`),
    narrowed(`/workflows/${ids.workflow}/list?status=failed`, 'Status', 'failed'),
  ],
  '/reviews': [narrowed('/reviews?show=all', 'Show', 'all')],
  '/reviews/$instance': [page(`/reviews/${ids.instance}`)],
  '/reviews/$instance/diff': [page(`/reviews/${ids.instance}/diff`)],
  '/reviews/$instance/feedback': [page(`/reviews/${ids.instance}/feedback`)],
  '/reviews/$instance/history': [page(`/reviews/${ids.instance}/history`)],
  '/cycles': [page('/cycles')],
  '/cycles/$cycle': [page(`/cycles/${ids.cycle}`), opened(`/cycles/${ids.cycle}?handoff=1`)],
  '/messages': [
    page('/messages'),
    opened(`/messages?message=${ids.question}`),
    opened(`/messages?message=${ids.ask}`),
    opened('/messages?broadcast=true'),
    narrowed('/messages?kind=ask', 'Kind', 'ask'),
  ],
  '/tools': [page('/tools'), opened('/tools?tool=far_echo'), page('/tools?who=developer:ben&can=echo')],
  '/tools/servers': [page('/tools/servers'), opened('/tools/servers?server=far')],
  '/tools/grants': [page('/tools/grants'), opened(`/tools/grants?grant=${ids.grant}`)],
  '/tools/matrix': [page('/tools/matrix?q=echo')],
  '/tools/changes': [page('/tools/changes'), opened('/tools/changes?change=far/tool/echo')],
  '/activity': [page('/activity'), opened(`/activity?event=${ids.event}`), narrowed('/activity?category=work', 'Category', 'work')],
  '/activity/chain': [page('/activity/chain')],
  '/usage': [page('/usage'), opened('/usage?prices=true'), narrowed('/usage?by=day', 'By', 'day')],
  '/settings': [page('/settings')],
  '/settings/tokens': [opened(`/settings/tokens?token=${ids.token}`), pressed('Create token', 'tokens.create', page('/settings/tokens'))],
  '/settings/agents': [page('/settings/agents')],
  '/settings/agents/$agent': [page('/settings/agents/codex')],
  '/settings/devices': [page('/settings/devices')],
  '/settings/members': [page('/settings/members')],
  '/settings/roles': [page('/settings/roles')],
  '/settings/limits': [page('/settings/limits')],
  '/settings/retention': [page('/settings/retention')],
  '/settings/theme': [page('/settings/theme')],
  '/setup/authorize': [page('/setup/authorize'), page(`/setup/authorize?code=${code}`)],
});

const REDIRECTED = ['/settings', '/settings/agents'];
const NOWHERE = page('/nowhere');
const SIZES = [1920, 1440, 1024, 768, 640, 390, 360];

test('shows hostile text on every page at every width without markup, overflow, cut states or axe violations, and opens what the address names', {
  timeout: 180_000,
}, async () => {
  const { app, ids } = await seeded();
  const { page: tab, url, errors } = await signedIn('/', {}, app, 'ana');
  const popped: string[] = [];
  tab.on('dialog', (dialog) => {
    popped.push(dialog.message());
    void dialog.dismiss();
  });
  const device = { machine_name: LINE.slice(0, 99), agents: ['codex'] };
  const asked = await fetch(`${url}/api/setup/device`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(device) });
  const { user_code } = (await asked.json()) as { user_code: string };

  const addresses = addressesOf(ids, user_code);
  expect(Object.keys(addresses).sort()).toEqual(Object.keys(router.routesByPath).sort());
  const wrong: string[] = [];
  const commands = new Map<string, string>();
  const told = (to: string, found: readonly string[]) => wrong.push(...found.map((each) => `${to}: ${each}`));
  for (const [at, { to, opens = false, field, press }] of [...Object.values(addresses).flat(), NOWHERE].entries()) {
    // Every second address is opened on a small screen first, because panels open differently there.
    const sizes = at % 2 === 0 ? SIZES : SIZES.toReversed();
    await tab.emulateMedia({ colorScheme: at % 2 === 0 ? 'light' : 'dark', reducedMotion: 'reduce' });
    await tab.setViewportSize({ width: sizes[0] ?? 0, height: 900 });
    await tab.goto(url + to);
    await settled(tab);
    if (press !== undefined) {
      const [name, action] = press;
      const answered = tab.waitForResponse((response) => response.url().endsWith(action) && response.ok());
      await tab.getByRole('button', { name, exact: true }).click();
      await answered;
      await settled(tab);
    }
    told(to, errors.splice(0));
    const { pathname, search } = new URL(tab.url());
    if (!REDIRECTED.includes(to) && decodeURIComponent(pathname + search) !== decodeURIComponent(to)) told(to, [`became ${pathname + search}`]);
    if ((await tab.locator('dialog[open]').count()) !== Number(opens)) told(to, [opens ? 'opens nothing' : 'opens something']);
    if (field && (await tab.getByRole('combobox', { name: field[0], exact: true }).inputValue()) !== field[1]) told(to, [`${field[0]} is not ${field[1]}`]);
    if ((await tab.evaluate(() => scrollY)) !== 0) told(to, ['is not shown from its top']);
    told(to, await markup(tab));
    told(to, await violations(tab));
    for (const command of await tab.evaluate(commandsShown)) commands.set(command, to);
    for (const width of sizes) {
      await tab.setViewportSize({ width, height: 900 });
      told(`${to} at ${width}`, await tab.evaluate(cutOff));
    }
  }
  for (const [command, to] of commands) {
    const fault = faultOf(command);
    if (fault) told(to, [fault]);
  }
  expect([...wrong, ...popped.map((text) => `popped up: ${text}`)]).toEqual([]);
});

async function settled(tab: Page): Promise<void> {
  await tab.locator('header').getByText('Live').waitFor();
  await tab.getByRole('heading', { level: 1 }).first().waitFor();
  await tab.waitForFunction(() => !document.querySelector('[aria-label=Loading], .skeleton'));
}

/** Returns elements that hostile text has created, and text that changes the writing direction. */
const markup = (tab: Page): Promise<string[]> =>
  tab.evaluate(() => {
    const made = [...document.querySelectorAll('img:not([src="/favicon.svg"]), script:not([src]), #root style')].map(({ outerHTML }) =>
      outerHTML.slice(0, 200),
    );
    const shown = [
      document.title,
      ...[...document.querySelectorAll('#root *')].flatMap((each) => [each.getAttribute('title'), each.getAttribute('aria-label')]),
    ];
    const turned = [...shown, ...(document.body.textContent ?? '').split('\n')].filter((text) => /[\u202A-\u202E\u2066-\u2069]/.test(text ?? ''));
    return [...made, ...turned.map((text) => `turns the text around: ${text?.slice(0, 80)}`)];
  });

/** Returns all commands on the page, including folded ones. This function runs in the page. */
function commandsShown(): string[] {
  return [...document.querySelectorAll('code')].map(({ textContent }) => textContent).filter((text) => text.startsWith('covenant '));
}

/** Returns what overflows: the page, states and panels. This function runs in the page. */
function cutOff(): string[] {
  const { scrollWidth, clientWidth } = document.documentElement;
  const found = scrollWidth > clientWidth ? ['the page is wider than the window'] : [];
  for (const state of document.querySelectorAll<HTMLElement>('[data-state-label]')) {
    const { right, width } = state.getBoundingClientRect();
    // A graph may overflow, because people can move its canvas.
    if (width === 0 || state.closest('.react-flow')) continue;
    for (let around = state.parentElement; around && around !== document.body; around = around.parentElement) {
      const edge = around.getBoundingClientRect().right;
      const holds = around.matches('td') || getComputedStyle(around).overflowX !== 'visible';
      if (holds && right > edge + 1) found.push(`the state “${state.textContent}” is cut off`);
    }
  }
  for (const panel of document.querySelectorAll('dialog[open]')) {
    if (panel.scrollWidth > panel.clientWidth) found.push('what is open scrolls sideways');
    const head = panel.querySelector('h2')?.closest('dialog > *');
    if (head && head.clientHeight > innerHeight / 3) found.push(`its title is ${head.clientHeight} px high`);
  }
  return found;
}
