import { expect, it } from 'vitest';
import { connected } from './connect.ts';
import type { Program } from './programs/program.ts';
import { completesATask, editsWhatItClaimed, furnished, hasASession, hearsAnAsk, isDeniedAnEdit, losesTheServer, worksWithItsStoredToken } from './scenes.ts';
import type { Workplace } from './workplace.ts';

/** Tests both ways to connect a client. The client's own command must list the server, its model must be offered the tools, and the tools must work. */
export function isConnected(program: Program): void {
  const works = async (workplace: Workplace, server: string) => {
    expect(await program.connections(workplace)).toEqual([server]);
    const { model } = await completesATask(program, workplace, server);
    expect(model.turns[0]?.tools).toContain(program.ours('covibe_task', {}, server).tool);
    if (program.asksNobodyElse) expect(workplace.outside.asked).toEqual([]);
  };
  it('connects over HTTP with what covenant connect prints, and completes a task', async () => {
    await works(await connected(program), 'covenant');
  });

  it('connects through the bridge with covibe-local setup, and completes a task', async () => {
    await works(await furnished(program), 'covibe');
  });
}

/** Tests what the client does with its hooks. `hooks` determines how they reach the server. By default, setup chooses. */
export function hearsItsHooks(program: Program, hooks?: 'http' | 'command'): void {
  it('is denied an edit of a claimed file, and can make it once the file is free', async () => {
    await isDeniedAnEdit(program, await furnished(program, hooks && { hooks }));
  });

  it('receives an ask between two tool calls', async () => {
    await hearsAnAsk(program, await furnished(program, hooks && { hooks }));
  });
}

export function livesWithTheServer(program: Program): void {
  it('works with the token that the device flow stored', async () => {
    await worksWithItsStoredToken(program);
  });

  it('edits files that it has claimed itself', async () => {
    await editsWhatItClaimed(program, await furnished(program));
  });

  it('continues while the server is unreachable', async () => {
    await losesTheServer(program, false);
  });

  it('makes no edits while the server is unreachable if the workspace fails closed', async () => {
    await losesTheServer(program, true);
  });

  it('has one session from start to end', async () => {
    await hasASession(program, await furnished(program));
  });
}
