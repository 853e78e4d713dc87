import { expect, test } from 'vitest';
import { childEnvironment } from './environment.ts';

test('a child gets the variables that every program needs and those that its entry defines, but no other variable of the server [gateway.config.env]', () => {
  const server = {
    PATH: '/usr/bin',
    HOME: '/users/ana',
    LC_ALL: 'C',
    NODE_EXTRA_CA_CERTS: '/etc/ca.pem',
    GITHUB_TOKEN: 'secret',
    DATABASE_URL: 'postgres://secret',
  };
  expect(childEnvironment(server, { LOG_LEVEL: 'info', HOME: '/elsewhere' }, 'linux')).toEqual({
    PATH: '/usr/bin',
    HOME: '/elsewhere',
    LC_ALL: 'C',
    NODE_EXTRA_CA_CERTS: '/etc/ca.pem',
    LOG_LEVEL: 'info',
  });
});

test("does not pass on npm's additions to PATH, but keeps the user's", () => {
  const PATH = '/srv/covenant/node_modules/.bin:/srv/node_modules/.bin:/usr/lib/node_modules/npm/node-gyp-bin:/usr/local/bin:/usr/bin';
  expect(childEnvironment({ PATH, npm_execpath: '/usr/bin/npm' }, {}, 'linux').PATH).toBe('/usr/local/bin:/usr/bin');
  expect(childEnvironment({ PATH }, {}, 'linux').PATH).toBe(PATH);
});
