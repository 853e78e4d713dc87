import type { Feature } from '../../../kernel/tool.ts';
import { threadTools } from './tools.ts';

/** What agents and people say to each other, in one list for people. The words are kept by the features that carry them. */
export const threads: Feature = { name: 'threads', implementations: threadTools };
