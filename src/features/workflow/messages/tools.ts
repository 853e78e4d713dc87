import type { Implementation } from '../../../kernel/tool.ts';
import { inboxTools } from './inbox.ts';
import { peopleTools } from './people.ts';
import { sendTools } from './send.ts';

export const messageTools: Implementation[] = [...sendTools, ...inboxTools, ...peopleTools];
