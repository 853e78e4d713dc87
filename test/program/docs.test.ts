import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { placeHeaders } from '../../src/surfaces/place-headers.ts';
import { COMPILED } from '../../src/testing/programs/compiled.ts';
import { endTmux } from '../../src/testing/programs/processes.ts';
import { covenant, ROOT, startProgram } from '../../src/testing/programs/program.ts';
import { temporaryRepository } from '../../src/testing/scenes/repository.ts';
import { whenOver } from '../../src/testing/scope.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';
import { until } from '../../src/testing/until.ts';
import { faultOf } from '../browser/known-command.ts';
import { blocksOf, type FencedBlock, pages, proseOf } from '../pages.ts';

/**
 * The examples of a page run in order, in one scratch home and one scratch repository, against a real server:
 *   ```sh            runs in a shell, which must exit with 0
 *   ```sh no-run     cannot run in a test, for a reason in NOT_RUN; its commands and options must exist
 *   ```json          {"tool", "arguments"}: a call by claude-code@ana, or by the caller in `as=`; it must succeed
 *   ```json reply    a part of the answer to the call before it; if it shows a refusal, that call must be refused
 *   ```json waits    a call that is held for approval while the next block runs
 *   ```jsonl         one call per line; each must succeed
 *   ```toml FILE     is written to that file in the server's home before the server starts
 * Placeholders: `chk_…` is the latest id with this prefix, `"…"` the latest value of the same field, `<id of NAME>` the id of the item with that name.
 */
const RUN = [
  'README.md',
  ...['get-started', 'team-setup', 'team', 'workflows', 'gateway', 'cycles', 'reviews', 'overlap', 'agents'].map((name) => `docs/${name}.md`),
];
/** Pages that name commands in sentences only. Their commands must exist. */
const WITHOUT_EXAMPLES = ['docs/concepts.md', 'docs/instances.md'];

/** Lines of `no-run` blocks, with the reason why the test cannot run them. */
const NOT_RUN: [line: RegExp, reason: string][] = [
  [/^git clone /, 'clones this repository'],
  [
    /^npm (start|test|install)\b/,
    'serves or installs the clone: test/program/clone.test.ts and first-start.test.ts test its parts, and release.test.ts installs the package',
  ],
  [/^(npm exec -- )?covenant demo\b/, 'takes a minute: test/program/demo.test.ts runs it'],
  [/^(DATABASE_URL=|pg_dump )/, 'needs a PostgreSQL server of your own'],
  [/^covenant devices approve\b/, 'needs the code that another machine shows'],
];

type Json = Record<string, unknown>;

test.each(RUN)(
  'every command and tool call of %s runs as the page shows it [use.docs.commands]',
  async (page) => {
    const blocks = blocksOf(page);
    expect(blocks.some(isExample)).toBe(true);
    expect(blocks.filter(({ language }) => ['bash', 'console'].includes(language))).toEqual([]);
    const scene = await setting(blocks);
    let unread: { block: FencedBlock; body: Json } | undefined;
    const mustHaveSucceeded = ({ block, body }: { block: FencedBlock; body: Json }) =>
      expect(refusalIn(body), `${at(block)}: ${JSON.stringify(body)}`).toBe(false);
    let held: Promise<unknown> | undefined;
    for (const block of blocks) {
      const has = (word: string) => block.words.includes(word);
      if (has('reply')) {
        expect(unread?.body, at(block)).toMatchObject(patternOf(JSON.parse(block.text)) as Json);
        unread = undefined;
        continue;
      }
      if (unread) mustHaveSucceeded(unread);
      unread = undefined;
      if (!isExample(block)) continue;
      if (block.language === 'sh') {
        await scene.shell(block);
        await held;
      } else if (block.language === 'jsonl') {
        for (const text of block.text.split('\n')) mustHaveSucceeded({ block, body: await scene.call({ ...block, text }) });
      } else if (has('waits')) {
        held = scene.call(block).then((body) => mustHaveSucceeded({ block, body }));
        await scene.untilCallIsHeld();
      } else unread = { block, body: await scene.call(block) };
    }
    if (unread) mustHaveSucceeded(unread);
  },
  180_000,
);

test('every command in a page exists, with the options shown, even if no test can run it [use.docs.commands]', () => {
  const faults: string[] = [];
  const used = new Set<unknown>();
  for (const page of [...RUN, ...WITHOUT_EXAMPLES]) {
    for (const [, command = ''] of proseOf(page).matchAll(/`((?:covenant|covibe-local) [^`]+)`/g)) {
      const fault = unknownCommand(command.replace(/\s+/g, ' '));
      // In a sentence, a command may be written without its arguments.
      if (fault && !/^\d+ words after/.test(fault)) faults.push(`${page}: ${fault}`);
    }
  }
  for (const block of pages().flatMap(blocksOf)) {
    if (!['sh', 'bash', 'console'].includes(block.language)) continue;
    for (const line of linesOf(block)) {
      if (block.words.includes('no-run') && RUN.includes(block.page)) {
        const reason = NOT_RUN.find(([known]) => known.test(line));
        if (reason) used.add(reason);
        else faults.push(`${at(block)}: no reason not to run: ${line}`);
      }
      for (const command of line.split(/ (?:&&|\|\|?) /)) {
        const fault = unknownCommand(command.replace(/^(?:[A-Z_]+=\S+ +)*(?:npm exec (?:--prefix \S+ )?-- )?/, ''));
        if (fault) faults.push(`${at(block)}: ${fault}`);
      }
    }
  }
  expect(faults).toEqual([]);
  expect(NOT_RUN.filter((reason) => !used.has(reason))).toEqual([]);
});

const isExample = ({ language, words, text }: FencedBlock): boolean =>
  language === 'sh' ? !words.includes('no-run') : language === 'jsonl' || (language === 'json' && text.includes('"tool"'));

const at = ({ page, line }: FencedBlock): string => `${page}:${line}`;

/** Returns the command lines of a block without comments and prompts. Lines that end with a backslash are joined with the next one. */
const linesOf = ({ text }: FencedBlock): string[] =>
  text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) =>
      line
        .replace(/^\$ /, '')
        .replace(/(^|\s+)#.*$/, '')
        .trim(),
    )
    .filter((line) => line !== '');

function unknownCommand(command: string): string | undefined {
  const words = command.replaceAll(/<[^>]*>/g, 'X').replaceAll(/\s(?:\d?>>?|<)\s*\S+|\s--(?:json|help)\b/g, '');
  if (/^covenant [a-z]/.test(words)) return faultOf(words);
  if (!/^covibe-local [a-z]/.test(words)) return undefined;
  const [, ...args] = words.split(/\s+/);
  const names = args.slice(0, 2).filter((word) => /^[a-z]/.test(word));
  const help = helpOf(names);
  if (!help.includes(`covibe-local ${names[0]}`)) return `no such command: ${command}`;
  const unknown = args.filter((word) => word.startsWith('--') && !help.includes(word));
  return unknown.length > 0 ? `no such option: ${unknown}: ${command}` : undefined;
}

const helps = new Map<string, string>();

function helpOf(names: readonly string[]): string {
  const key = names.join(' ');
  const text = helps.get(key) ?? spawnSync(process.execPath, [join(ROOT, 'dist/bin/covibe-local.js'), ...names, '--help'], { encoding: 'utf8' }).stdout;
  helps.set(key, text);
  return text;
}

/** Sets up what the examples need: a server with the page's configuration, a machine with the built programs and stand-ins for agents, and a repository. */
async function setting(blocks: readonly FencedBlock[]) {
  const home = temporaryFolder();
  const [covenantHome, bin, tokens] = ['.covenant', 'bin', 'tokens'].map((name) => join(home, name)) as [string, string, string];
  for (const folder of [covenantHome, bin, tokens, join(home, 'notes')]) mkdirSync(folder, { mode: 0o700 });
  for (const { language, words, text } of blocks)
    if (language === 'toml' && words[0]) writeFileSync(join(covenantHome, words[0]), text, { flag: 'a', mode: 0o600 });
  const program = (name: string, script: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  for (const name of ['covenant', 'covibe-local', 'covibe-mcp']) program(name, `exec '${process.execPath}' '${join(ROOT, `dist/bin/${name}.js`)}' "$@"`);
  program('npm', 'test "$1 $2" = "exec --" && shift 2 && exec "$@"');
  // For `npx -y PACKAGE …`, the package is taken from this repository's dependencies.
  program('npx', `shift; name=$1; shift; exec '${process.execPath}' '${ROOT}'/node_modules/"$name"/dist/index.js "$@"`);
  program('systemctl', 'exit 0');
  for (const name of ['claude', 'codex'])
    program(name, `test -n "$COVENANT_INSTANCE_ID" || exit 0; echo "$COVIBE_MCP_TOKEN" > '${tokens}'/"$COVENANT_INSTANCE_ID"; exec sleep 600`);

  const repository = temporaryRepository();
  const env = { HOME: home, PATH: `${bin}:${process.env.PATH}`, LANG: 'C.UTF-8', NODE_ENV: 'test', NODE_COMPILE_CACHE: COMPILED };
  const operator = { home: covenantHome, env };
  whenOver(() => endTmux(covenantHome));
  const { url } = await startProgram(operator);
  const memory = remembering(repository.path);
  const here = (written: string) => written.replaceAll(/http:\/\/127\.0\.0\.1:3001|https:\/\/covenant\.example\b/g, url);

  async function tokenOf(name: string): Promise<string> {
    const file = join(tokens, name);
    // An instance already has the token that its program was started with. Create a token for each other caller.
    if (name.includes('@') && !existsSync(file)) {
      const [agent = '', developer = ''] = name.split('@');
      const { json } = await covenant(operator, 'tokens', 'create', '--developer', developer, '--agent', agent, '--json');
      writeFileSync(file, String(json.token));
    }
    return await until(() => readFileSync(file, 'utf8').trim());
  }

  for (const name of ['claude-code@ana', 'codex@ben']) await tokenOf(name);

  /** Approves all devices that are waiting, as a person does on the dashboard. */
  async function approveDevices() {
    const { waiting } = (await covenant(operator, 'devices', 'list', '--json')).json as { waiting: { user_code: string }[] };
    for (const { user_code } of waiting) await covenant(operator, 'devices', 'approve', user_code, '--developer', 'ana');
  }

  return {
    async shell(block: FencedBlock) {
      const script = memory.filled(here(block.text));
      const child = spawn('sh', ['-eu', '-c', script], {
        cwd: repository.path,
        env: { ...env, ...IDENTITY },
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: 120_000,
      });
      const timer = block.text.includes('covibe-local setup') ? setInterval(() => void approveDevices(), 500) : undefined;
      const [[code], stdout, stderr] = await Promise.all([once(child, 'close') as Promise<[number]>, text(child.stdout), text(child.stderr)]);
      clearInterval(timer);
      expect({ code, stderr: code === 0 ? '' : `${at(block)}: ${script}\n${stdout}${stderr}` }).toEqual({ code: 0, stderr: '' });
      memory.printed(stdout);
    },
    async call(block: FencedBlock): Promise<Json> {
      const { tool, arguments: args } = memory.resolved(JSON.parse(here(block.text))) as Json;
      const caller = block.words.find((word) => word.startsWith('as='))?.slice('as='.length) ?? 'claude-code@ana';
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${await tokenOf(caller)}`, ...placeHeaders(repository.path) };
      const response = await fetch(`${url}/api/mcp`, { method: 'POST', headers, body: JSON.stringify({ tool, arguments: args }) });
      const body = (await response.json()) as Json;
      memory.answered(body);
      return body;
    },
    async untilCallIsHeld() {
      await until(async () => {
        const { items } = (await covenant(operator, 'approvals', 'list', '--json')).json;
        expect(items).not.toEqual([]);
        memory.answered(items);
      });
    },
  };
}

const IDENTITY = { GIT_AUTHOR_NAME: 'Ana', GIT_AUTHOR_EMAIL: 'ana@localhost', GIT_COMMITTER_NAME: 'Ana', GIT_COMMITTER_EMAIL: 'ana@localhost' };

const ID = /\b([a-z]+)_(?:[0-9A-Z]{26}|[0-9a-f]{48})\b/g;

/** Stores ids and values from answers, so that later examples can use them in place of their placeholders. */
function remembering(repository: string) {
  const [byPrefix, byKey, byName] = [new Map<string, string>(), new Map<string, string>(), new Map<string, string>()];
  const printed = (words: string) => {
    for (const [id, prefix = ''] of [...words.matchAll(ID)].toReversed()) byPrefix.set(prefix, id);
  };
  const named = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { id, name = (value as Json).title } = value as Json;
    if (typeof id === 'string' && typeof name === 'string') byName.set(name, id);
    for (const [key, item] of Object.entries(value)) typeof item === 'string' ? byKey.set(key, item) : named(item);
  };
  /** If an answer contains several ids, the first one is stored, because the result of the call comes before the objects that it was compared with. */
  const answered = (value: unknown): void => {
    printed(JSON.stringify(value, (key, item) => (key === 'matches' || key === 'candidates' ? undefined : item)));
    named(value);
  };
  const known = (from: Map<string, string>, name: string, written: string): string => {
    const found = from.get(name);
    if (found === undefined) throw new Error(`no answer has held ${written} yet`);
    return found;
  };
  const filled = (written: string): string =>
    written
      .replaceAll(/\b([a-z]+)_…/g, (all, prefix: string) => known(byPrefix, prefix, all))
      .replaceAll(/<id of ([^>]+)>/g, (all, name: string) => known(byName, name, all));
  const resolved = (value: unknown, key = '', around: Json = {}): unknown => {
    if (value === '…' && key === 'psk') return JSON.parse(readFileSync(join(repository, '.mcp-broker/config.json'), 'utf8')).agents[String(around.role)].psk;
    if (value === '…') return known(byKey, key, `a value of ${key}`);
    if (typeof value === 'string') return filled(value);
    if (Array.isArray(value)) return value.map((item) => resolved(item, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolved(item, name, value as Json)]));
  };
  return { printed, answered, filled, resolved };
}

/** Returns a pattern for answers that contain what the page shows. `…` matches any text. */
function patternOf(shown: unknown): unknown {
  if (typeof shown === 'string' && shown.includes('…')) return expect.stringMatching(new RegExp(`^${shown.split('…').map(escaped).join('[\\s\\S]*')}$`));
  if (Array.isArray(shown)) return shown.map(patternOf);
  if (typeof shown !== 'object' || shown === null) return shown;
  return Object.fromEntries(Object.entries(shown).map(([key, item]) => [key, patternOf(item)]));
}

const escaped = (words: string): string => words.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Whether the answer is a refusal. Each contract has a different envelope for refusals. */
const refusalIn = (body: Json): boolean =>
  body.status === 'blocked' || body.status === 'error' || body.ok === false || body.success === false || 'recoverable' in body || 'error' in body;
