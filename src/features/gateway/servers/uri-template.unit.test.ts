import { expect, test } from 'vitest';
import { matchesTemplate } from './uri-template.ts';

test.each([
  ['test://template/{id}/data', 'test://template/7/data', true],
  ['test://template/{id}/data', 'test://template/7/8/data', false],
  ['test://template/{id}/data', 'test://template//data', false],
  ['file:///{+path}', 'file:///a/b/c.txt', true],
  ['file:///{+path}', 'file:///', false],
  ['x://{a}-{b}', 'x://1-2', true],
  ['x://{a}{b}', 'x://12', true],
  ['x://{a}{b}', 'x://1', false],
  ['search://find{?q,n}', 'search://find', true],
  ['search://find{?q,n}', 'search://find?q=1&n=2', true],
  ['x://{/deep*}', 'x:///a/b', true],
  ['plain://exact', 'plain://exact', true],
  ['plain://exact', 'plain://exactly', false],
  ['x://{unclosed', 'x://a', false],
])('the template %s and the URI %s: %s', (template, uri, matches) => {
  expect(matchesTemplate(template, uri)).toBe(matches);
});

test('a template designed to make matching endless is still matched quickly', () => {
  expect(matchesTemplate(`x://${'{+a}'.repeat(30)}!`, `x://${'a'.repeat(4000)}`)).toBe(false);
});
