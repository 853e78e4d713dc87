import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport, type StdioServerParameters } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from './store/database.ts';

export type Era = 'legacy' | 'modern';
export const ERAS: Era[] = ['legacy', 'modern'];

/** Connects a client that supports only one version of the protocol. It is closed when the test ends. */
export async function connected(
  url: string,
  token: string,
  era: Era = 'modern',
  options: ClientOptions = {},
  prepare?: (client: Client) => void,
): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { ...options, versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
  );
  prepare?.(client);
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  onTestFinished(() => client.close());
  return client;
}

/** Starts the stdio bridge with these settings, without any settings of this machine, and connects a client to it. Both end with the test. */
export async function bridged(program: StdioServerParameters, settings: Readonly<Record<string, string>>, options: ClientOptions = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, options);
  onTestFinished(() => client.close());
  const env = { PATH: process.env.PATH ?? '', HOME: temporaryFolder(), ...settings };
  await client.connect(new StdioClientTransport({ ...program, env, stderr: 'ignore' }));
  return client;
}
