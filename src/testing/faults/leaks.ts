import { readdirSync, readFileSync } from 'node:fs';

export const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

export function childrenOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number));
}

/** Returns the resident memory of a process in bytes. */
export const residentBytes = (pid: number): number => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;

/** Matches the files that a server may create in its home. */
const KEPT = /^(covenant\.db(-wal|-shm)?|credentials\.json|config\.toml|secrets\.toml|server\.json|backups|logs|anchors|clock)$/;

export const strayFiles = (home: string): string[] => readdirSync(home).filter((name) => !KEPT.test(name));
