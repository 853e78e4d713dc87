import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createFixture } from './conformance-server.ts';

/** A stdio server that only knows the newer revision. */
serveStdio(createFixture().server, { legacy: 'reject' });
