import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../src/testing/programs/program.ts';

/** A fenced code block of a page. For example, a block that begins with ```json as=codex@ben has the language json and the words ['as=codex@ben']. */
export interface FencedBlock {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly words: readonly string[];
  readonly text: string;
}

export const pageText = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** Returns the paths of all Markdown pages in the root, under docs/ and in the other folders. */
export const pages = (): string[] =>
  globSync(['*.md', 'docs/**/*.md', '{src,test,web,bench,scripts}/**/*.md'], { cwd: ROOT, exclude: ['**/node_modules/**'] }).toSorted();

export function blocksOf(page: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: { line: number; indent: number; info: string; lines: string[] } | undefined;
  for (const [index, line] of pageText(page).split('\n').entries()) {
    const fence = /^( *)```(.*)$/.exec(line);
    if (open && fence) {
      const [language = '', ...words] = open.info.trim().split(/\s+/);
      blocks.push({ page, line: open.line, language, words, text: open.lines.join('\n') });
      open = undefined;
    } else if (fence) open = { line: index + 1, indent: (fence[1] ?? '').length, info: fence[2] ?? '', lines: [] };
    else open?.lines.push(line.slice(open.indent));
  }
  return blocks;
}

/** Returns the page without its fenced blocks, because a bracket in a block is not a link, and a # is not a heading. */
export const proseOf = (page: string): string => pageText(page).replaceAll(/^( *)```[\s\S]*?^ *```$/gm, '');

/** Returns the anchors that GitHub creates for the headings of a page. */
export function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of proseOf(page).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  for (const [, id = ''] of pageText(page).matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id);
  return anchors;
}

/** Returns the targets of all links and pictures of a page, except those on other sites. */
export function linksOf(page: string): string[] {
  const text = proseOf(page).replaceAll(/`[^`\n]*`/g, '');
  const found = [
    ...text.matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g),
    ...text.matchAll(/(?:src|srcset|href)="([^"]+)"/g),
    ...text.matchAll(/^\[[^\]]+\]: (\S+)$/gm),
  ];
  return found.map(([, target = '']) => target).filter((target) => !/^[a-z]+:/i.test(target));
}
