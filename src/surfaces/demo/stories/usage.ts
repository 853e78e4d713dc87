import type { Actor } from '../actor.ts';
import type { Stage, Story } from '../stage.ts';

/** What the agents used. Of one model nobody has told the price. */
export const usage: Story = { title: 'usage', steps: 1, tell };

async function tell(stage: Stage): Promise<void> {
  const [claude, codex, cursor, gemini] = await Promise.all(['claude-code@ana', 'codex@mira', 'cursor@ana', 'gemini@li'].map((name) => stage.actor(name)));
  if (!claude || !codex || !cursor || !gemini) return;
  const counts = (model: string, input: number, cached: number, output: number) => ({
    direct_counts: { model, input_tokens: input, cached_input_tokens: cached, output_tokens: output },
  });
  const report = (actor: Actor, payload: object) => actor.call('covibe_ingest_agent_telemetry', { source: 'proxy', payload, session_id: actor.session });
  await report(claude, counts('claude-sonnet-4-5', 182_400, 121_000, 9_120));
  await report(claude, counts('claude-sonnet-4-5', 96_050, 61_700, 4_310));
  await report(codex, counts('gpt-5', 143_900, 88_000, 7_450));
  await report(cursor, counts('gpt-5-mini', 51_300, 20_480, 2_205));
  await report(gemini, counts('house-model-7b', 75_000, 0, 3_900));
  stage.done('usage, one model without a price');
}
