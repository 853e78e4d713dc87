import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createFixture } from './conformance-server.ts';

/** A stdio server that supports only the newer protocol revision. */
serveStdio(createFixture().server, { legacy: 'reject' });
