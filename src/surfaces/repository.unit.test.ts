import { expect, test } from 'vitest';
import { asHeader, fromHeader } from './repository.ts';

test('a path goes through a header unharmed, and what is no absolute path is not believed', () => {
  expect(fromHeader(asHeader('/home/zoë/my repo'))).toBe('/home/zoë/my repo');
  expect(fromHeader(asHeader('C:\\work\\app'))).toBe('C:\\work\\app');
  for (const nonsense of [undefined, '', 'app', '%E0%A4%A', asHeader('/a\nb'), asHeader(`/${'x'.repeat(1_000)}`)]) expect(fromHeader(nonsense)).toBeUndefined();
});
