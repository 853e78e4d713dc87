import { type Command, option, UsageError } from '../command.ts';

interface Configured {
  settings: { warn: number; escalate: number };
  defaults: { warn: number; escalate: number };
  own: boolean;
}

const words = ({ warn, escalate }: Configured['settings']) => `warn from ${warn}, verdict from ${escalate}`;

/** From which score on work is warned of, and from which it needs a verdict. docs/overlap.md has the curve. */
export const overlapCommands: readonly Command[] = [
  {
    name: 'overlap show',
    summary: 'The thresholds of the overlap check in this workspace.',
    async run(invocation) {
      const answer = (await (await invocation.client()).action('overlap.configure')) as unknown as Configured;
      return {
        json: { kind: 'overlap', ...answer },
        text: answer.own ? `${words(answer.settings)} (default: ${words(answer.defaults)})` : words(answer.settings),
      };
    },
  },
  {
    name: 'overlap set',
    summary: "Set this workspace's own thresholds, or go back to the defaults.",
    options: { warn: { type: 'string' }, escalate: { type: 'string' }, reset: { type: 'boolean' } },
    async run(invocation) {
      const [warn, escalate] = (['warn', 'escalate'] as const).map((name) => {
        const text = option(invocation, name);
        if (text === undefined) return undefined;
        const value = Number(text);
        if (text.trim() === '' || !Number.isFinite(value)) throw new UsageError(`--${name} is not a number`);
        return value;
      });
      const reset = invocation.values.reset === true;
      if (warn === undefined && escalate === undefined && !reset) throw new UsageError('--warn, --escalate or --reset is needed');
      const wanted = { ...(warn === undefined ? {} : { warn }), ...(escalate === undefined ? {} : { escalate }), ...(reset ? { reset } : {}) };
      const answer = (await (await invocation.client()).action('overlap.configure', wanted)) as unknown as Configured;
      return { json: { kind: 'overlap', ...answer }, text: words(answer.settings) };
    },
  },
];
