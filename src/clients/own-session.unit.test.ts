import { describe, expect, it } from 'vitest';
import { ownSession } from './own-session.ts';

const envelope = { ok: true, data: { session_id: 'ses_01', agent_type: null } };
const text = JSON.stringify(envelope);

describe('the Covenant session of a call', () => {
  const names = [
    'mcp__covibe__covibe_task',
    'mcp__covenant__covibe_task',
    'covibe.covibe_task',
    'mcp_covibe_covibe_task',
    'MCP:covibe_task',
    'covibe_covibe_task',
    'covibe_task',
  ];
  it.each(names)('is named by %s', (tool) => {
    expect(ownSession(tool, { operation: 'check', session_id: 'ses_01' }, undefined)).toEqual({ session_id: 'ses_01' });
  });

  it.each([
    ['Claude Code', text],
    ['Codex', { content: [{ type: 'text', text }], structuredContent: envelope }],
    ['Gemini CLI', { llmContent: [{ text: `<untrusted_context>\n${text}\n</untrusted_context>` }], returnDisplay: text }],
    ['opencode', { content: [{ type: 'text', text }] }],
    ['Cursor', JSON.stringify({ content: [{ type: 'text', text }] })],
  ])('is returned to %s by the start', (_, response) => {
    expect(ownSession('mcp__covibe__covibe_session', { operation: 'start' }, response)).toEqual({ session_id: 'ses_01', session_started: true });
  });

  it('the answer of a start takes precedence over a named session; answers of other calls do not count', () => {
    const named = { operation: 'start', session_id: 'ses_00' };
    expect(ownSession('mcp__covibe__covibe_session', named, text)).toEqual({ session_id: 'ses_01', session_started: true });
    expect(ownSession('mcp__covibe__covibe_session', named, undefined)).toEqual({ session_id: 'ses_00' });
    expect(ownSession('mcp__covibe__covibe_session', { operation: 'heartbeat', session_id: 'ses_00' }, text)).toEqual({ session_id: 'ses_00' });
    expect(ownSession('mcp__covibe__covibe_task', named, text)).toEqual({ session_id: 'ses_00' });
  });

  it('ignores other tools, and answers of other operations', () => {
    expect(ownSession('mcp__other__session', { session_id: 'ses_01' }, text)).toEqual({});
    expect(ownSession('mcp__covibe__covibe_session', { operation: 'list_contexts' }, text).session_id).toBeUndefined();
    expect(ownSession('mcp__covibe__covibe_task', { session_id: 'PROMPT with words' }, text).session_id).toBeUndefined();
    expect(ownSession('mcp__covibe__covibe_session', { operation: 'start' }, 'no JSON {').session_id).toBeUndefined();
  });
});
