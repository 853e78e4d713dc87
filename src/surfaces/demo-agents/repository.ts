import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const FILES: Readonly<Record<string, string>> = {
  'README.md': '# Shop\n\nA small shop: sign in, fill a cart, check out.\n',
  'src/session.ts': 'export interface Session {\n  id: string;\n  user: string;\n  token: string;\n}\n\nexport const sessions = new Map<string, Session>();\n',
  'src/login.ts':
    "import { sessions } from './session.ts';\n\nexport function login(user: string): string {\n  const id = crypto.randomUUID();\n  sessions.set(id, { id, user, token: id });\n  return id;\n}\n",
  'src/cart.ts':
    'export interface Line {\n  sku: string;\n  count: number;\n}\n\nexport const total = (lines: Line[], price: (sku: string) => number) => lines.reduce((sum, line) => sum + price(line.sku) * line.count, 0);\n',
  'src/checkout.ts': "import { total, type Line } from './cart.ts';\n\nexport const checkout = (lines: Line[]) => ({ due: total(lines, () => 1) });\n",
  'db/schema.sql':
    'create table users (id text primary key, name text not null);\ncreate table legacy_sessions (id text primary key, user_id text not null);\n',
  'test/cart.test.ts': "import { total } from '../src/cart.ts';\n\nconsole.assert(total([{ sku: 'a', count: 2 }], () => 3) === 6);\n",
};

const IDENTITY = ['-c', 'user.name=Covenant demo', '-c', 'user.email=demo@localhost', '-c', 'commit.gpgsign=false'];

export function git(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-C', folder, ...IDENTITY, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/** Creates a small repository with a short history for the agents. */
export function makeRepository(folder: string): string {
  const path = join(folder, 'shop');
  mkdirSync(path, { recursive: true });
  git(path, 'init', '--quiet', '--initial-branch=main');
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
    git(path, 'add', '--', name);
    git(path, 'commit', '--quiet', '--message', `Add ${name}`);
  }
  return path;
}
