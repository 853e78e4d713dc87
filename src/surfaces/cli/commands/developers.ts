import type { listDevelopers, setVisibility, signOutDeveloper } from '../../../features/identity/contract.ts';
import type { Output } from '../../../kernel/contract.ts';
import { asking, type Command } from '../command.ts';
import { counted, table } from '../output.ts';

const ask = asking<{
  'developers.list': Output<typeof listDevelopers>;
  'developers.set_visibility': Output<typeof setVisibility>;
  'developers.sign_out': Output<typeof signOutDeveloper>;
}>();

/** The people of a workspace. */
export const developerCommands: readonly Command[] = [
  {
    name: 'developers list',
    summary: 'Who is in the workspace.',
    async run(invocation) {
      const { items } = await ask(invocation, 'developers.list');
      const rows = items.map(({ developer_id, name, role, visibility }) => [developer_id, name, role, visibility]);
      return { json: { kind: 'developer_list', items }, text: table(['DEVELOPER', 'NAME', 'ROLE', 'VISIBILITY'], rows) };
    },
  },
  {
    name: 'developers visibility',
    summary: 'Show a developer to the team by name (team), or as @private (private).',
    positionals: ['NAME', 'team|private'],
    async run(invocation) {
      const [developer, visibility] = invocation.positionals;
      const set = await ask(invocation, 'developers.set_visibility', { developer, visibility });
      return {
        json: { kind: 'developer', ...set },
        text: `${developer} is shown to ${set.visibility === 'team' ? 'the team by name' : 'others as @private'}.`,
      };
    },
  },
  {
    name: 'developers signout',
    summary: 'End every dashboard session of a developer, and their unused sign-in links. Tokens of agents stay.',
    positionals: ['NAME'],
    async run(invocation) {
      const { developer, sessions } = await ask(invocation, 'developers.sign_out', { developer: invocation.positionals[0] });
      return { json: { kind: 'developer_signed_out', developer, sessions }, text: `Signed out ${developer}: ${counted(sessions, 'session')} ended.` };
    },
  },
];
