import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { TestCaller } from '../../src/testing/app.ts';
import { processesWith } from '../../src/testing/programs/processes.ts';
import { ROOT } from '../../src/testing/programs/program.ts';
import { type TestRepository, temporaryRepository } from '../../src/testing/scenes/repository.ts';
import { type TeamApp, teamApp } from '../../src/testing/scenes/team.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';
import { type Outside, outside } from './outside.ts';

/** The folder with the clients' programs. */
export const clientsFolder = join(process.env.COVENANT_TEST_CLIENTS ?? '', 'node_modules/.bin');
/** The folder with the built programs. */
const DIST = process.env.COVENANT_DIST ?? join(ROOT, 'dist');

/** A server, a repository and a machine without user settings, on which Ana's agent works. Ben is another developer. */
export interface Workplace {
  readonly t: TeamApp;
  readonly url: string;
  readonly instance: string;
  readonly repo: TestRepository;
  readonly home: string;
  /** The agent type of the client. */
  readonly agent: TestCaller;
  readonly outside: Outside;
  readonly env: Readonly<Record<string, string>>;
  /** Writes a JSON file and its folders. */
  write(path: string, value: unknown): void;
  /** The content of a file in the repository. */
  read(path: string): string;
  /** Makes the server unreachable from now on. */
  stopServer(): Promise<void>;
}

export const REPO = 'acme/shop';
/** A file of the repository, and its content. */
export const FILE = 'src/basket.ts';
export const BEFORE = 'export const basket = [];';

/** `token`: whether the environment contains the agent's token. */
export async function openWorkplace(agentType: string, { token = true } = {}): Promise<Workplace> {
  const t = await teamApp();
  const server = await t.serve();
  const { url, instance } = server;
  const repo = temporaryRepository();
  repo.git(['remote', 'add', 'origin', `https://github.invalid/${REPO}.git`]);
  repo.commit(FILE, `${BEFORE}\n`);
  // Makes git assume that everything is pushed.
  repo.git(['update-ref', 'refs/remotes/origin/main', 'HEAD']);
  repo.git(['branch', '--quiet', '--set-upstream-to', 'origin/main']);
  const home = realpathSync(temporaryFolder());
  onTestFinished(() => nobodyLeft(home));
  const agent = await t.developer('ana', agentType);
  const wall = await outside();
  const env = {
    PATH: [ourPrograms(home), dirname(process.execPath), process.env.PATH ?? ''].join(':'),
    HOME: home,
    LANG: 'C.UTF-8',
    ...(token && { COVIBE_MCP_TOKEN: agent.token }),
    COVIBE_BASE_URL: url,
    ...wall.env,
  };
  return {
    ...{ t, url, instance, repo, home, agent, outside: wall, env },
    write: (path, value) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, JSON.stringify(value));
    },
    read: (path) => readFileSync(join(repo.path, path), 'utf8'),
    stopServer: () => server.close(0),
  };
}

/** Checks that every process that a client started ends with the client or when its own work is done. */
async function nobodyLeft(home: string): Promise<void> {
  try {
    await expect.poll(() => processesWith(home), { timeout: 15_000, interval: 100 }).toEqual([]);
  } finally {
    for (const pid of processesWith(home)) process.kill(pid, 'SIGKILL');
  }
}

/** The client's program, as npm installed it. */
export const clientProgram = (name: string): string => join(clientsFolder, name);

/** In PATH, like after a global install of the package. */
function ourPrograms(home: string): string {
  const folder = join(home, 'bin');
  mkdirSync(folder);
  for (const name of ['covibe-mcp', 'covibe-local', 'covenant']) {
    writeFileSync(join(folder, name), `#!/bin/sh\nexec '${process.execPath}' '${join(DIST, 'bin', `${name}.js`)}' "$@"\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}
