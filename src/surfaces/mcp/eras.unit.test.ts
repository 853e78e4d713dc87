import type { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { connected, ERAS } from '../../testing/mcp-client.ts';
import { fixtureGateway, WAYS, type Way } from '../../testing/stand-ins/gateway.ts';

/** Answers every question, and records it. */
function answering(asked: string[]): (client: Client) => void {
  return (client) => {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params.message);
      const properties = Object.keys('requestedSchema' in params ? params.requestedSchema.properties : {});
      return { action: 'accept', content: Object.fromEntries(properties.map((name) => [name, `my ${name}`])) };
    });
    client.setRequestHandler('sampling/createMessage', async () => {
      asked.push('sampling');
      return { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'small' };
    });
    client.setRequestHandler('roots/list', async () => {
      asked.push('roots');
      return { roots: [{ uri: 'file:///here' }] };
    });
  };
}

const ASKING: [tool: string, args: Record<string, string>, asked: string[], answer: RegExp][] = [
  ['test_elicitation', { message: 'Who?' }, ['Who?'], /my username.*my email/],
  ['test_sampling', { prompt: 'Say it' }, ['sampling'], /Paris/],
  ['test_input_required_result_list_roots', {}, ['roots'], /file:\/\/\/here/],
  ['test_input_required_result_multi_round', {}, ['Step 1: What is your name?', 'Step 2: What is your favorite color?'], /Both were answered/],
  ['test_input_required_result_multiple_inputs', {}, ['What is your name?', 'roots', 'sampling'], /All three were answered/],
];

test.each(Object.keys(WAYS) as Way[])(
  'passes questions, progress and results of a server over %s to clients of both eras [gateway.result.own-content] [harden.elicitation.names-server]',
  async (way) => {
    const { url, ana } = await fixtureGateway(way);
    for (const era of ERAS) {
      const asked: string[] = [];
      const client = await connected(url, ana.token, era, { capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} } }, answering(asked));
      for (const [name, args, questions, answer] of ASKING) {
        asked.length = 0;
        const { content } = await client.callTool({ name, arguments: args });
        expect([name, [...asked].sort()]).toEqual([
          name,
          questions.map((question) => (/[ ?]/.test(question) ? `[fixture] asks: ${JSON.stringify(question)}` : question)).sort(),
        ]);
        expect(JSON.stringify(content)).toMatch(answer);
      }
      const prompt = await client.getPrompt({ name: 'test_input_required_result_prompt' });
      expect(JSON.stringify(prompt.messages)).toContain('my context');
      for (let times = 0; times < 10; times++) {
        const progress: number[] = [];
        await client.callTool({ name: 'test_progress_at_once', arguments: {} }, { onprogress: (step) => progress.push(step.progress) });
        expect(progress).toEqual([0, 50, 100]);
      }
      const { content } = await client.callTool({ name: 'test_multiple_content_types', arguments: {} });
      expect((content as { type: string }[]).map(({ type }) => type)).toEqual(['text', 'image', 'resource']);
    }
  },
  60_000,
);
