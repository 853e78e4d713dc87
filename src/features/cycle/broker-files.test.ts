import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileDisk } from '../../machine/files.ts';
import { testClock } from '../../testing/clock.ts';
import { brokerFile, brokerRepository, CONFIG, type CycleApp, cycleApp, filesOf, PSKS, readBroker, writeConfig } from '../../testing/scenes/cycle.ts';
import type { Body } from '../../testing/scenes/workflow.ts';
import { temporaryFolder } from '../../testing/store/database.ts';
import { until } from '../../testing/until.ts';

/** Reads the paths and texts of all files in the broker folder, except for the config. */
const broker = (repository: string): Record<string, string> => Object.fromEntries([...filesOf(repository)].filter(([path]) => !path.endsWith('/')));

async function toArchive(app: CycleApp, gemini: string, codex: string): Promise<{ cycle_id: string; answer: Body }> {
  const { cycle_id } = await app.ok('cycle.start', { feature: 'featureX' });
  await app.handOver('codex', gemini);
  await app.handOver('gemini', codex);
  const { lock_token } = await app.ok('lock.acquire', { session_token: gemini });
  await app.ok('cycle.complete', { session_token: gemini, lock_token });
  return { cycle_id, answer: await app.ok('cycle.archive', { session_token: gemini, lock_token }) };
}

test('the files have their documented form, and the archive contains them all without secrets [storage.broker.state-active] [storage.broker.state-idle] [storage.broker.lock-file] [config.broker.shape] [config.broker.mode-shown] [cycle.archive.copies] [cycle.archive.manifest] [cycle.archive.no-secrets] [cycle.archive.clears-handoffs]', async () => {
  const app = await cycleApp({ clock: testClock(Date.UTC(2026, 1, 20, 21, 56, 22)) });
  const gemini = await app.open('gemini');
  const codex = await app.open('codex');
  const here = app.repository;
  const { cycle_id, lock_token } = await app.ok('cycle.start', { feature: 'featureX' });
  const started = {
    active: true,
    cycle_id: '20260220T215622Z_featureX',
    feature: 'featureX',
    phase: 'frontend',
    active_role: 'gemini',
    mode: 'approval',
    created_at: '2026-02-20T21:56:22.000Z',
    updated_at: '2026-02-20T21:56:22.000Z',
    handoff_status: { codex: 'empty', gemini: 'empty' },
  };
  expect(readBroker(here, 'state.json')).toEqual(started);
  const lock = { locked: true, role: 'gemini', lock_token: '[redacted]', cycle_id, acquired_at: '2026-02-20T21:56:22.000Z', expires_at: null };
  expect(readBroker(here, 'lock.json')).toEqual(lock);
  expect(readBroker(here, 'config.json')).toEqual(CONFIG);

  app.clock.advance(60_000);
  await app.handOver('codex', gemini);
  const at = '2026-02-20T21:57:22.000Z';
  expect(readBroker(here, 'state.json')).toEqual({
    ...started,
    phase: 'backend',
    active_role: 'codex',
    updated_at: at,
    handoff_status: { codex: 'present', gemini: 'empty' },
  });
  expect(readBroker(here, 'lock.json')).toEqual({ ...lock, role: 'codex', acquired_at: at });

  await app.handOver('gemini', codex);
  const held = await app.ok('lock.acquire', { session_token: gemini });
  const by = { session_token: gemini, lock_token: held.lock_token };
  await app.ok('cycle.complete', by);
  const [complete, locked] = [readBroker(here, 'state.json'), readBroker(here, 'lock.json')];
  const handoffs = { codex: readBroker(here, 'handoff/codex.json'), gemini: readBroker(here, 'handoff/gemini.json') };
  app.clock.advance(48_000);
  await app.ok('cycle.archive', by);

  expect(readBroker(here, 'state.json')).toEqual({
    active: false,
    cycle_id: null,
    feature: null,
    phase: null,
    active_role: null,
    mode: 'approval',
    created_at: null,
    updated_at: '2026-02-20T21:58:10.000Z',
    handoff_status: { codex: 'empty', gemini: 'empty' },
  });
  expect(readBroker(here, 'lock.json')).toEqual({ locked: false, role: null, lock_token: null, cycle_id: null, acquired_at: null, expires_at: null });
  const archived = (name: string) => readBroker(here, `archive/${cycle_id}/${name}`);
  expect(archived('config.json')).toEqual({ ...CONFIG, agents: { gemini: { psk: '[redacted]' }, codex: { psk: '[redacted]' } } });
  expect(archived('state.json')).toEqual(complete);
  expect(archived('lock.json')).toEqual(locked);
  expect(archived('handoff.codex.json')).toEqual(handoffs.codex);
  expect(archived('handoff.gemini.json')).toEqual(handoffs.gemini);
  expect(archived('manifest.json')).toEqual({
    cycle_id,
    feature: 'featureX',
    created_at: started.created_at,
    completed_at: at,
    archived_at: '2026-02-20T21:58:10.000Z',
  });
  expect(Object.keys(broker(here)).sort()).toEqual(
    [
      'lock.json',
      'state.json',
      ...['config.json', 'handoff.codex.json', 'handoff.gemini.json', 'lock.json', 'manifest.json', 'state.json'].map((name) => `archive/${cycle_id}/${name}`),
    ].sort(),
  );
  const everything = Object.values(broker(here)).join('\n');
  for (const secret of [...Object.values(PSKS), gemini, codex, lock_token, held.lock_token]) expect(everything).not.toContain(secret);

  // The same feature gets a second archive in the same second. A cancelled cycle gets no archive.
  const first = broker(here);
  await app.ok('cycle.start', { feature: 'other' });
  await app.done('cycles.cancel', { repository_path: here, reason: 'x' });
  expect(readBroker(here, 'state.json').active).toBe(false);
  expect(broker(here)).toEqual({ ...first, 'state.json': expect.stringContaining('"active": false') });
  const second = await toArchive(app, gemini, codex);
  const third = await toArchive(app, gemini, codex);
  expect(third.cycle_id).toBe(`${second.cycle_id}-2`);
  expect(readdirSync(brokerFile(here, 'archive')).sort()).toEqual([cycle_id, second.cycle_id, third.cycle_id]);
  expect(broker(here)).toMatchObject({ ...first, 'state.json': expect.any(String) });
});

test('editing or removing a mirror file changes nothing, and the next call restores it [storage.broker.mirror]', async () => {
  const app = await cycleApp();
  const gemini = await app.open('gemini');
  const { lock_token } = await app.ok('cycle.start', { feature: 'x' });
  await app.handOver('codex', gemini);
  const right = broker(app.repository);
  const status = await app.ok('cycle.status');
  const edit = (path: string, text: string) => writeFileSync(brokerFile(app.repository, path), text);

  edit('state.json', JSON.stringify({ ...readBroker(app.repository, 'state.json'), phase: 'frontend', active_role: 'gemini' }));
  edit('lock.json', JSON.stringify({ ...readBroker(app.repository, 'lock.json'), role: 'gemini', lock_token }));
  edit('handoff/codex.json', '{"notes": ["forged"]}');
  edit('handoff/gemini.json', '{"notes": ["forged"]}');
  expect(await app.ok('handoff.read', { target: 'gemini' })).toEqual({});
  expect(broker(app.repository)).toEqual(right);
  // The server uses only the store to decide about a call. This is also true for calls that it refuses and for calls of another role.
  for (const call of [
    () => app.ok('cycle.status'),
    () => app.refused('lock.acquire', { session_token: gemini }),
    () => app.open('codex'),
    async () => app.refused('handoff.write', { target: 'codex', session_token: gemini, lock_token, payload: await app.payload('codex') }),
  ]) {
    edit('state.json', JSON.stringify({ ...readBroker(app.repository, 'state.json'), phase: 'frontend', active_role: 'gemini' }));
    edit('lock.json', '{"half');
    await call();
    expect(broker(app.repository)).toEqual(right);
  }
  for (const harm of [
    () => rmSync(brokerFile(app.repository, 'handoff'), { recursive: true }),
    () => {
      rmSync(brokerFile(app.repository, 'state.json'));
      execFileSync('mkfifo', [brokerFile(app.repository, 'state.json')]);
    },
    () => rmSync(brokerFile(app.repository, ''), { recursive: true }),
  ]) {
    harm();
    expect(await app.ok('cycle.status')).toEqual(status);
    expect(broker(app.repository)).toEqual(right);
  }
  // Without the config, the server cannot verify a role, so it writes nothing.
  expect((await app.refused('lock.acquire', { session_token: gemini })).code).toBe('CONFIG_INVALID');
  expect(await app.ok('cycle.status')).toEqual(status);
});

test('if a file cannot be written, the call succeeds and returns the reason, and the sweep or the next call writes the file', async () => {
  let broken = false;
  const replaceFile: typeof fileDisk.replaceFile = async (...args) => {
    if (broken) throw new Error('EROFS: read-only file system');
    await fileDisk.replaceFile(...args);
  };
  const app = await cycleApp({ files: { ...fileDisk, replaceFile } });
  const gemini = await app.open('gemini');
  const codex = await app.open('codex');
  broken = true;
  const started = await app.ok('cycle.start', { feature: 'x' });
  expect(started).toMatchObject({ cycle_id: expect.any(String), lock_token: expect.any(String), mirror_error: 'EROFS: read-only file system' });
  expect(broker(app.repository)).toEqual({});
  expect(await app.ok('cycle.status')).toMatchObject({ phase: 'frontend', mirror_error: 'EROFS: read-only file system' });
  expect(await app.ok('handoff.read', { target: 'codex' })).toEqual({});
  await app.handOver('codex', gemini);
  // The log contains the error only once.
  expect(app.logged.filter((line) => line.includes('were not written'))).toHaveLength(1);
  broken = false;
  app.clock.advance(10_000);
  await until(() => expect(readBroker(app.repository, 'state.json')).toMatchObject({ phase: 'backend' }));
  await until(async () => expect(await app.app.store.reader.selectFrom('cycles').select('id').whereRef('mirrored', '<', 'revision').execute()).toEqual([]));

  await app.handOver('gemini', codex);
  const { lock_token } = await app.ok('lock.acquire', { session_token: gemini });
  await app.ok('cycle.complete', { session_token: gemini, lock_token });
  broken = true;
  const { cycle_id, mirror_error } = await app.ok('cycle.archive', { session_token: gemini, lock_token });
  expect(mirror_error).toContain('EROFS');
  expect(existsSync(brokerFile(app.repository, `archive/${cycle_id}`))).toBe(false);
  broken = false;
  expect(await app.ok('cycle.status')).not.toHaveProperty('mirror_error');
  expect(readdirSync(brokerFile(app.repository, 'archive'))).toEqual([cycle_id]);
  expect(readdirSync(brokerFile(app.repository, `archive/${cycle_id}`))).toHaveLength(6);
});

test('nothing is written through a link that leads out of the repository, and the answer names the obstacle', async () => {
  const app = await cycleApp();
  const gemini = await app.open('gemini');
  const codex = await app.open('codex');
  const outside = realpathSync(temporaryFolder());
  const linked = (path: string) => {
    rmSync(brokerFile(app.repository, path), { recursive: true, force: true });
    symlinkSync(outside, brokerFile(app.repository, path));
  };
  const unlinked = (path: string) => rmSync(brokerFile(app.repository, path));

  linked('handoff');
  expect((await app.ok('cycle.start', { feature: 'x' })).mirror_error).toContain(`is a link to ${outside}`);
  expect((await app.handOver('codex', gemini)).mirror_error).toContain(outside);
  expect(readdirSync(outside)).toEqual([]);
  unlinked('handoff');
  expect(await app.ok('cycle.status')).not.toHaveProperty('mirror_error');
  expect(existsSync(brokerFile(app.repository, 'handoff/codex.json'))).toBe(true);

  // A link in place of a file is replaced. The server does not write to the target of the link.
  const theirs = join(outside, 'theirs.json');
  writeFileSync(theirs, 'theirs');
  unlinked('state.json');
  symlinkSync(theirs, brokerFile(app.repository, 'state.json'));
  await app.handOver('gemini', codex);
  expect(readFileSync(theirs, 'utf8')).toBe('theirs');
  expect(readBroker(app.repository, 'state.json').phase).toBe('frontend_refine');
  rmSync(theirs);

  const { lock_token } = await app.ok('lock.acquire', { session_token: gemini });
  await app.ok('cycle.complete', { session_token: gemini, lock_token });
  linked('archive');
  const { cycle_id, mirror_error } = await app.ok('cycle.archive', { session_token: gemini, lock_token });
  expect(mirror_error).toContain(outside);
  expect(readdirSync(outside)).toEqual([]);
  unlinked('archive');
  mkdirSync(brokerFile(app.repository, 'archive'));
  linked(`archive/${cycle_id}`);
  expect((await app.ok('cycle.status')).mirror_error).toContain('exists and is not the archive');
  expect(readdirSync(outside)).toEqual([]);
  unlinked(`archive/${cycle_id}`);
  expect(await app.ok('cycle.status')).not.toHaveProperty('mirror_error');
  expect(existsSync(brokerFile(app.repository, `archive/${cycle_id}/manifest.json`))).toBe(true);

  // Now the whole folder is read-only.
  renameSync(brokerFile(app.repository, 'config.json'), join(outside, 'config.json'));
  rmSync(brokerFile(app.repository, ''), { recursive: true });
  symlinkSync(outside, join(app.repository, '.mcp-broker'));
  expect((await app.ok('cycle.start', { feature: 'y' })).mirror_error).toContain(outside);
  await app.handOver('codex', gemini);
  expect(readdirSync(outside)).toEqual(['config.json']);
});

test('a missing repository does not prevent the end of its cycle and is not recreated', async () => {
  const app = await cycleApp();
  await app.ok('cycle.start', { feature: 'x' });
  const { items } = (await app.done('cycles.list', {})) as Body;
  rmSync(app.repository, { recursive: true });
  expect(await app.refused('cycle.status')).toMatchObject({ code: 'SCHEMA_INVALID', details: { field: 'repository_path' } });
  const ended = await app.done('cycles.cancel', { id: items[0].id, reason: 'The repository is gone.' });
  expect(ended).toMatchObject({ cycle: { status: 'cancelled' } });
  expect(ended).not.toHaveProperty('mirror_error');
  expect(existsSync(app.repository)).toBe(false);
});

test('a reader always sees a whole file, old or new [storage.broker.atomic-files]', async () => {
  const app = await cycleApp();
  const sessions = { codex: await app.open('gemini'), gemini: await app.open('codex') };
  await app.ok('cycle.start', { feature: 'x' });
  const files = ['state.json', 'lock.json', 'handoff/codex.json'].map((path) => brokerFile(app.repository, path));
  let over = false;
  const seen = new Set<string>();
  const reading = (async () => {
    while (!over) {
      for (const file of files) {
        const text = await readFile(file, 'utf8').catch(() => '{}');
        const { phase, notes } = JSON.parse(text);
        if (phase) seen.add(phase);
        if (notes) expect(notes).toHaveLength(500);
      }
    }
  })();
  const large = Array(500).fill('x'.repeat(400));
  try {
    for (let turn = 0; turn < 4; turn++) {
      const target = turn % 2 ? 'gemini' : 'codex';
      const before = readFileSync(files[0] as string, 'utf8');
      const open = openSync(files[0] as string, 'r');
      await app.handOver(target, sessions[target], { payload: await app.payload(target, { notes: large }) });
      // A reader that has the old file open can still read all of it, because the file was replaced and not overwritten.
      expect(readFileSync(open, 'utf8')).toBe(before);
      closeSync(open);
    }
  } finally {
    over = true;
  }
  await reading;
  expect([...seen]).toEqual(expect.arrayContaining(['backend', 'frontend_refine']));
  expect(Object.keys(broker(app.repository)).sort()).toEqual(['handoff/codex.json', 'handoff/gemini.json', 'lock.json', 'state.json']);
});

test('calls that need the config are refused with its faults if it is invalid [config.broker.missing-psk] [storage.broker.config-read] [config.broker.shape] [cycle.machine.checked-at-load]', async () => {
  const app = await cycleApp({ repository: brokerRepository(null) });
  const session = { session_token: 'sess_x' };
  const held = { ...session, lock_token: 'x' };
  const SENSITIVE: [string, object][] = [
    ['session.open', { role: 'gemini', psk: 'x' }],
    ['lock.acquire', session],
    ['handoff.write', { ...held, target: 'codex', payload: {} }],
    ['cycle.complete', held],
    ['cycle.archive', held],
  ];
  const sensitive = async (faults: readonly string[], tools = SENSITIVE.slice(0, 1)) => {
    for (const [tool, args] of tools) {
      const { code, message, details } = await app.refused(tool, args);
      expect(code).toBe('CONFIG_INVALID');
      expect(message).toContain(brokerFile(app.repository, 'config.json'));
      for (const fault of faults) expect(message).toContain(fault);
      expect(details.next).toMatch(/./);
      expect(JSON.stringify([message, details])).not.toMatch(/SECRET/);
    }
  };
  const open = async () => {
    await app.ok('cycle.start', { feature: 'x' });
    await app.ok('cycle.status');
    await app.ok('handoff.read', { target: 'codex' });
    await app.done('cycles.cancel', { repository_path: app.repository, reason: 'x' });
  };
  await sensitive(['agents.gemini.psk is missing'], SENSITIVE);
  await open();
  for (const [agents, missing] of [
    [{ codex: CONFIG.agents.codex }, 'gemini'],
    [{ gemini: CONFIG.agents.gemini }, 'codex'],
    [{ gemini: CONFIG.agents.gemini, codex: { psk: '' } }, 'codex'],
  ] as const) {
    writeConfig(app.repository, { ...CONFIG, agents });
    await sensitive([`agents.${missing}.psk is missing`], SENSITIVE);
    const { details } = await app.refused('session.open', { role: 'gemini', psk: 'x' });
    expect(details.next).toBe('Set `agents.ROLE.psk` for each of gemini, codex, or run `covenant cycle init` in the repository.');
  }
  await open();
  for (const [config, ...faults] of [
    ['{', 'not valid JSON'],
    [{ ...CONFIG, validation: 'strict' }, 'validation: only "basic" is supported'],
    [{ ...CONFIG, storage_path: 'elsewhere' }, 'storage_path: only ".mcp-broker" is supported'],
    [{ ...CONFIG, agents: { ...CONFIG.agents, gemini: 'GEMINI_SECRET' } }, 'agents.gemini: '],
    [
      { ...CONFIG, roles: ['gemini'], phases: { a: 'gemini', b: 'nobody' }, transitions: [], final: 'c' },
      'the unknown role nobody',
      'the final phase c does not exist',
    ],
  ] as const) {
    writeConfig(app.repository, config);
    await sensitive(faults);
    expect((await app.refused('cycle.start', { feature: 'x' })).message).toContain(faults[0]);
    expect(await app.ok('cycle.status')).toMatchObject({ cycle_id: null, mode: 'approval' });
    expect(await app.done('cycles.show', { repository_path: app.repository })).toMatchObject({ cycle: null, config_error: expect.stringContaining(faults[0]) });
  }
  rmSync(brokerFile(app.repository, 'config.json'));
  mkdirSync(brokerFile(app.repository, 'config.json'));
  await sensitive(['is not a file'], SENSITIVE);
  rmSync(brokerFile(app.repository, 'config.json'), { recursive: true });
  symlinkSync('config.json', brokerFile(app.repository, 'config.json'));
  await sensitive(['is not a file']);
  rmSync(brokerFile(app.repository, 'config.json'));
  writeConfig(app.repository, `${JSON.stringify(CONFIG)}${' '.repeat(1024 * 1024)}`);
  await sensitive(['is larger than 1 MB']);
  rmSync(brokerFile(app.repository, ''), { recursive: true });
  writeFileSync(join(app.repository, '.mcp-broker'), '');
  await sensitive(['cannot be read (ENOTDIR)']);
});
