import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { covenant, type Environment, type RunningProgram, startProgram } from '../programs/program.ts';
import { brokerRepository } from '../scenes/cycle.ts';
import { whenOver } from '../scope.ts';
import { temporaryDatabase, temporaryFolder } from '../store/database.ts';
import { Client, ClientLog, type Json } from './client.ts';
import { evidence } from './evidence.ts';
import { childrenOf, descriptorsOf, strayFiles } from './leaks.ts';
import { FULL, Random, SEED } from './random.ts';
import { Roles } from './roles.ts';
import { type Site, Worker } from './worker.ts';

const STEPS = 200;
const OPERATORS = 8;
const MAX_AT_ONCE = 500;

export interface SceneOptions {
  /** A name that is printed with the results. It also determines the sequence of random numbers. */
  label: string;
  agents: number;
  /** Where the servers run. The default is one server on SQLite. */
  at?: readonly Environment[];
  files?: number;
  /** Returns the folder in which this process sees a server's home. By default it is the same folder. */
  seen?: (home: string) => string;
}

/** One or more servers under mixed load. The scene records the answers that the clients receive. */
export class Scene {
  readonly log = new ClientLog();
  readonly random: Random;
  readonly #label: string;
  readonly #seen: (home: string) => string;
  readonly #at: readonly Environment[];
  readonly #servers: (RunningProgram | undefined)[] = [];
  readonly #clients: Client[] = [];
  #urls: string[] = [];
  #over = false;
  #idle = 0;
  #load: Promise<unknown> = Promise.resolve();

  private constructor(label: string, at: readonly Environment[], seen: (home: string) => string) {
    this.#seen = seen;
    this.#label = label;
    this.random = new Random(SEED, label);
    this.#at = at;
    process.stdout.write(`${label}: COVENANT_SEED=${SEED}\n`);
  }

  static async begin({
    label,
    agents,
    at = [{ home: temporaryFolder() }],
    files = Math.ceil(agents / 2),
    seen = (home) => home,
  }: SceneOptions): Promise<Scene> {
    const scene = new Scene(label, at, seen);
    for (const place of at) scene.#servers.push(await startProgram(place));
    scene.#urls = scene.#servers.map((server) => (server as RunningProgram).url);
    scene.#idle = descriptorsOf(scene.server().child.pid as number);
    await scene.#populate(agents, files);
    return scene;
  }

  server(at = 0): RunningProgram {
    return this.#servers[at] as RunningProgram;
  }

  get home(): string {
    return this.#seen(this.#at[0]?.home as string);
  }

  operator(): Client {
    const { token } = JSON.parse(readFileSync(join(this.home, 'credentials.json'), 'utf8')) as { token: string };
    return this.client('operator', token);
  }

  client(name: string, token: string, first = 0): Client {
    const client = new Client(name, token, this.log, [...this.#urls.slice(first), ...this.#urls.slice(0, first)]);
    this.#clients.push(client);
    whenOver(() => client.close());
    return client;
  }

  async token(developer: string, operator = this.operator()): Promise<string> {
    const { data } = await operator.action('tokens.create', { developer });
    return String(data.token);
  }

  async kill(at = 0): Promise<void> {
    await this.server(at).stop('SIGKILL');
  }

  /** Starts the server again with the same address. */
  async restart(at = 0): Promise<void> {
    this.#servers[at] = await startProgram(this.#at[at] as Environment, new URL(this.#urls[at] as string).port);
  }

  /** Kills the server with SIGKILL at random moments, and starts it again without repairing anything. */
  async killAndRestart(times: number): Promise<void> {
    for (let kill = 0; kill < times; kill++) {
      await this.log.more(this.random.between(1, FULL ? 80 : 40));
      await pause(this.random.below(15));
      const victim = this.random.below(this.#at.length);
      await this.kill(victim);
      await this.restart(victim);
    }
    await this.log.more(50);
  }

  /** Waits until the calls in progress have finished. No new calls are started. */
  async endLoad(): Promise<void> {
    this.#over = true;
    await this.#load;
    for (const client of this.#clients) client.close();
  }

  /** Ends the load and the servers, and checks whether the store matches the product's promises. */
  async judge(): Promise<{ events: number }> {
    await this.endLoad();
    for (const server of this.#servers) expect(await server?.stop()).toBe(0);
    const left = temporaryFolder();
    // The home may be on a disk that only another process has mounted. SQLite would resolve its path to a folder of this process, so the home is copied first.
    cpSync(this.home, left, { recursive: true });
    const database = { path: join(left, 'covenant.db'), url: this.#at[0]?.env?.DATABASE_URL };
    const { problems, events } = await evidence(this.log, database);
    process.stdout.write(`${this.#label}: ${events} events, ${this.log.summary()}\n`);
    expect(problems).toEqual([]);
    expect(await covenant(this.#at[0] as Environment, 'audit', 'verify')).toMatchObject({ code: 0 });
    for (const { home } of this.#at) expect(strayFiles(this.#seen(home))).toEqual([]);
    return { events };
  }

  /** Checks that the first server has no more open files and children after the load than before. */
  async nothingLeaked(): Promise<void> {
    await this.endLoad();
    const pid = this.server().child.pid as number;
    await expect.poll(() => descriptorsOf(pid), { interval: 100 }).toBeLessThanOrEqual(this.#idle);
    expect(childrenOf(pid)).toEqual([]);
  }

  async #populate(agents: number, files: number): Promise<void> {
    const operators = Array.from({ length: OPERATORS }, () => this.operator());
    const tokens = await Promise.all(Array.from({ length: agents }, (_, number) => this.token(`agent-${number}`, operators[number % OPERATORS])));
    const site: Site = { workflow: await this.#workflow(tokens[0] as string), agents: [], files };
    const workers = tokens.map((token, number) => {
      const client = this.client(`agent-${number}`, token, number % this.#urls.length);
      return new Worker(`a${number}`, client, new Random(SEED, `worker ${number}`), site);
    });
    expect(tokens.filter((token) => !token.startsWith('cv_'))).toEqual([]);
    const [gemini, codex] = [this.client('gemini', tokens[0] as string), this.client('codex', tokens.at(-1) as string, this.#urls.length - 1)];
    const roles = new Roles({ gemini, codex }, brokerRepository());
    const everyone = [...workers, roles, { work: () => this.#grant() }];
    this.#load = Promise.all(
      everyone.map(async (one) => {
        while (!this.#over) await one.work();
      }),
    );
  }

  #grants = 0;
  async #grant(): Promise<void> {
    const action = `tool.call.load_${++this.#grants}`;
    await this.#administrator.action('capabilities.grant', { action, developer: 'agent-0' }, { rows: [`grant:${action}`], unique: true });
    await pause(this.random.between(5, 50));
  }

  #known: Client | undefined;
  get #administrator(): Client {
    this.#known ??= this.operator();
    return this.#known;
  }

  async #workflow(token: string): Promise<string> {
    const planner = this.client('planner', token);
    const repository_path = temporaryFolder();
    const words = { name: 'load', source_type: 'prompt', source_content: '', repository_path, max_parallel_tasks: MAX_AT_ONCE };
    const { data } = await planner.tool('workflow_create', words);
    const tasks = Array.from({ length: STEPS }, (_, at) => ({ name: `step ${at}`, description: '', sequence: 0 }));
    const { data: planned } = await planner.tool('workflow_set_plan', { id: data.id, plan: { summary: 'load', approach: 'load', tasks } });
    expect(planned).toMatchObject({ tasks_created: STEPS } satisfies Json);
    return String(data.id);
  }
}

/** Returns the environments of two servers that share one PostgreSQL database. */
export async function twoServers(): Promise<Environment[]> {
  const { home, url } = await temporaryDatabase('postgres');
  const env = { DATABASE_URL: url as string };
  return [
    { home, env },
    { home: temporaryFolder(), env },
  ];
}
