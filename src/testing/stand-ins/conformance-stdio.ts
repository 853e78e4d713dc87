import type { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createFixture } from './conformance-server.ts';

/** Runs the conformance server as a child process that uses stdio. */
const fixture = createFixture();
let current: Server | undefined;
fixture.onToggle((what) => void (what === 'tools' ? current?.sendToolListChanged() : current?.sendPromptListChanged())?.catch(() => {}));
serveStdio(() => {
  current = fixture.server();
  return current;
});
