import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../version.ts';

/** The agents' guide. Every client may list and read it, because it is part of the documentation. */
export const GUIDE = {
  uri: 'covenant://guide',
  name: "Agents' guide",
  description: 'How an agent works with Covenant: the calls of each job, in order, and what to do after a refusal.',
  mimeType: 'text/markdown',
} as const;

const FILE = join(PACKAGE_ROOT, 'docs/agents.md');

export async function readGuide(): Promise<{ contents: { uri: string; mimeType: string; text: string }[] }> {
  return { contents: [{ uri: GUIDE.uri, mimeType: GUIDE.mimeType, text: await readFile(FILE, 'utf8') }] };
}
