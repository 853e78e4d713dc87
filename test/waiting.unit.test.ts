import { expect, test } from 'vitest';
import { withheldDefinitions } from '../src/surfaces/cli/commands/status-text.ts';
import type { ExternalServer } from '../web/api.ts';
import { definitions } from '../web/pages/team/waiting.ts';

test('a definition that was rejected is counted as waiting neither on Now nor in the shell', () => {
  const waiting = { rejected: null } as ExternalServer['withheld'][number];
  const rejected = { rejected: { by: 'mira', at: 1 } } as ExternalServer['withheld'][number];
  const server = { name: 'far', withheld: [waiting, rejected, rejected] } as unknown as ExternalServer;
  const words = '1 definition withheld until somebody has looked at what changed';
  expect(definitions(server).sentence).toBe(words);
  expect(withheldDefinitions(server).sentence).toBe(words);
});
