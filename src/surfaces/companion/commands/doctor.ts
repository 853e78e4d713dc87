import { BASE_URL, type CompanionCommand } from '../command.ts';

const doctor: CompanionCommand = {
  name: 'doctor',
  summary: 'Check what setup has put in place here, and say how to mend what is wrong. Changes nothing.',
  options: BASE_URL,
  local: true,
  run: async (invocation) => await (await import('../doctor/report.ts')).report(invocation),
};

export const doctorCommands: readonly CompanionCommand[] = [doctor, { ...doctor, name: 'status', summary: 'The same as doctor.' }];
