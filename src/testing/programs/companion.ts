import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { PACKAGE_ROOT } from '../../version.ts';
import { type TestRepository, temporaryRepository } from '../scenes/repository.ts';
import { whenOver } from '../scope.ts';
import { temporaryFolder } from '../store/database.ts';
import { COMPILED } from './compiled.ts';
import { type Ran, ROOT } from './program.ts';

/** Simulates a person's machine. It has a home and stand-ins for programs, and runs `covibe-local` as a separate process. */
export interface TestMachine {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** Returns the arguments of each call of `systemctl`. */
  systemctl(): string[];
  /** Runs the companion until it ends. `input` is written to its stdin. */
  run(cwd: string, args: readonly string[], env?: Readonly<Record<string, string>>, input?: string): Promise<Ran>;
  start(
    cwd: string,
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
    input?: string,
  ): { child: ChildProcess; ran: Promise<Ran>; said(text: RegExp): Promise<RegExpExecArray> };
}

/** Creates a machine. `programs` lists the programs that are installed besides git, such as `claude`. */
export function testMachine({ programs = [], systemd = true }: { programs?: readonly string[]; systemd?: boolean } = {}): TestMachine {
  const home = temporaryFolder();
  const bin = temporaryFolder();
  const calls = join(temporaryFolder(), 'systemctl');
  const script = (name: string, text: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  script('systemctl', systemd ? `echo "$@" >> '${calls}'` : 'exit 1');
  for (const name of ['covibe-mcp', 'covibe-local']) script(name, `exec '${process.execPath}' '${join(ROOT, 'src/bin', `${name}.ts`)}' "$@"`);
  for (const name of programs) script(name, 'exit 0');
  const env = { HOME: home, PATH: `${bin}:/usr/bin:/bin`, LANG: 'C.UTF-8', NODE_ENV: 'test', NODE_COMPILE_CACHE: COMPILED };

  const start: TestMachine['start'] = (cwd, args, more = {}, input = '') => {
    const child = spawn(process.execPath, [join(ROOT, 'src/bin/covibe-local.ts'), ...args], {
      cwd,
      env: { ...env, ...more },
      stdio: 'pipe',
    });
    // The companion may end without reading its input.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const closed = once(child, 'close');
    whenOver(async () => {
      child.kill('SIGKILL');
      await closed;
    });
    const ran = closed.then(([code]): Ran => ({ code, stdout, stderr, json: jsonIn(stdout) }));
    const said = async (text: RegExp): Promise<RegExpExecArray> => {
      for (;;) {
        const found = text.exec(stderr);
        if (found) return found;
        if (!(await Promise.race([once(child.stderr, 'data'), closed.then(() => undefined)]))) throw new Error(`it never said ${text}: ${stderr}${stdout}`);
      }
    };
    return { child, ran, said };
  };
  return {
    home,
    env,
    systemctl: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []),
    run: (...given) => start(...given).ran,
    start,
  };
}

/** Parses the output as JSON. Returns an empty object if the command printed text for people. */
function jsonIn(stdout: string): Record<string, unknown> {
  return stdout.startsWith('{') ? (JSON.parse(stdout) as Record<string, unknown>) : {};
}

/** Creates a repository as it is after `npm install covenant`, with the package and links to its programs. */
export function repositoryWithThePackage(): TestRepository {
  const repo = temporaryRepository();
  repo.write('package.json', '{ "name": "customer", "private": true }');
  const bins = join(repo.path, 'node_modules', '.bin');
  mkdirSync(bins, { recursive: true });
  symlinkSync(PACKAGE_ROOT, join(dirname(bins), manifest.name));
  for (const [name, path] of Object.entries(manifest.bin)) symlinkSync(join('..', manifest.name, path), join(bins, name));
  return repo;
}
