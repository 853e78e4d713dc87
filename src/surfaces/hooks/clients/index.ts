import type { HookClient } from '../client.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import { git } from './git.ts';
import { opencode } from './opencode.ts';

export const HOOK_CLIENTS: Readonly<Record<string, HookClient>> = { 'claude-code': claudeCode, codex, cursor, gemini, opencode, git };
