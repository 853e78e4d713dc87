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

/** A server, and a machine with a repository on which Ana's agent works. The machine has no user settings. Ben is another developer. */
export interface Workplace {
  readonly t: TeamApp;
  readonly url: string;
  readonly instance: string;
  readonly repo: TestRepository;
  readonly home: string;
  /** The agent that the client runs as. */
  readonly agent: TestCaller;
  readonly outside: Outside;
  readonly env: Readonly<Record<string, string>>;
  /** Writes a JSON file. Missing folders are created. */
  write(path: string, value: unknown): void;
  /** Returns the content of a file in the repository. */
  read(path: string): string;
  /** Makes the server unreachable from now on. */
  stopServer(): Promise<void>;
}

export const REPO = 'acme/shop';
/** The path and the content of a file in the repository. */
export const FILE = 'src/basket.ts';
export const BEFORE = 'export const basket = [];';

/** `token` determines whether the environment contains the agent's token. */
export async function openWorkplace(agentType: string, { token = true } = {}): Promise<Workplace> {
  const t = await teamApp();
  const server = await t.serve();
  const { url, instance } = server;
  const repo = temporaryRepository();
  repo.git(['remote', 'add', 'origin', `https://github.invalid/${REPO}.git`]);
  repo.commit(FILE, `${BEFORE}\n`);
  // Make git assume that all commits are pushed.
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

/** Checks that all processes that a client has started end with the client, or soon after it. */
async function nobodyLeft(home: string): Promise<void> {
  try {
    await expect.poll(() => processesWith(home), { timeout: 15_000, interval: 100 }).toEqual([]);
  } finally {
    for (const pid of processesWith(home)) process.kill(pid, 'SIGKILL');
  }
}

/** Returns the path of a client's program, which npm has installed. */
export const clientProgram = (name: string): string => join(clientsFolder, name);

/** Returns a folder for the PATH with our programs, as after a global install of the package. */
function ourPrograms(home: string): string {
  const folder = join(home, 'bin');
  mkdirSync(folder);
  for (const name of ['covibe-mcp', 'covibe-local', 'covenant']) {
    writeFileSync(join(folder, name), `#!/bin/sh\nexec '${process.execPath}' '${join(DIST, 'bin', `${name}.js`)}' "$@"\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}
