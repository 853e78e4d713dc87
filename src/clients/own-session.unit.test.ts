import { describe, expect, it } from 'vitest';
import { ownSession } from './own-session.ts';

const envelope = { ok: true, data: { session_id: 'ses_01', agent_type: null } };
const text = JSON.stringify(envelope);

describe('the session of ours that a call is in', () => {
  const names = [
    'mcp__covibe__covibe_task',
    'mcp__covenant__covibe_task',
    'covibe.covibe_task',
    'mcp_covibe_covibe_task',
    'MCP:covibe_task',
    'covibe_covibe_task',
    'covibe_task',
  ];
  it.each(names)('%s names it', (tool) => {
    expect(ownSession(tool, { operation: 'check', session_id: 'ses_01' }, undefined)).toEqual({ session_id: 'ses_01' });
  });

  it.each([
    ['Claude Code', text],
    ['Codex', { content: [{ type: 'text', text }], structuredContent: envelope }],
    ['Gemini CLI', { llmContent: [{ text: `<untrusted_context>\n${text}\n</untrusted_context>` }], returnDisplay: text }],
    ['opencode', { content: [{ type: 'text', text }] }],
    ['Cursor', JSON.stringify({ content: [{ type: 'text', text }] })],
  ])('%s is told it by the start', (_, response) => {
    expect(ownSession('mcp__covibe__covibe_session', { operation: 'start' }, response)).toEqual({ session_id: 'ses_01', session_started: true });
  });

  it('what a start was answered goes before what it named, and is nothing that another call can name', () => {
    const named = { operation: 'start', session_id: 'ses_00' };
    expect(ownSession('mcp__covibe__covibe_session', named, text)).toEqual({ session_id: 'ses_01', session_started: true });
    expect(ownSession('mcp__covibe__covibe_session', named, undefined)).toEqual({ session_id: 'ses_00' });
    expect(ownSession('mcp__covibe__covibe_session', { operation: 'heartbeat', session_id: 'ses_00' }, text)).toEqual({ session_id: 'ses_00' });
    expect(ownSession('mcp__covibe__covibe_task', named, text)).toEqual({ session_id: 'ses_00' });
  });

  it('what other tools say, or another operation answers, is none', () => {
    expect(ownSession('mcp__other__session', { session_id: 'ses_01' }, text)).toEqual({});
    expect(ownSession('mcp__covibe__covibe_session', { operation: 'list_contexts' }, text).session_id).toBeUndefined();
    expect(ownSession('mcp__covibe__covibe_task', { session_id: 'PROMPT with words' }, text).session_id).toBeUndefined();
    expect(ownSession('mcp__covibe__covibe_session', { operation: 'start' }, 'no JSON {').session_id).toBeUndefined();
  });
});
