import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createFixture } from './conformance-server.ts';

/** A server over stdio that knows the newer revision only. */
serveStdio(createFixture().server, { legacy: 'reject' });
