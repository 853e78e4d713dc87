import { expect, test } from 'vitest';
import { localPath } from '../web/local-path.ts';

test.each([
  ['/tasks?task=task_1#plan', '/tasks?task=task_1#plan'],
  ['/reviews/work-7-a1/diff', '/reviews/work-7-a1/diff'],
  [undefined, '/'],
  ['', '/'],
  ['tasks', '/'],
  ['//elsewhere.example/tasks', '/'],
  ['/\\elsewhere.example', '/'],
  ['/\t/elsewhere.example', '/'],
  ['https://elsewhere.example/', '/'],
  ['javascript:alert(1)', '/'],
])('a link leads to a page of this server: %j', (asked, path) => {
  expect(localPath(asked)).toBe(path);
});
