import type { listEvents } from '../../features/core/events/contract.ts';
import type { CallAnswer, Principal } from '../../kernel/call.ts';
import type { Output } from '../../kernel/contract.ts';
import type { App } from '../../main.ts';

const PAGE = 1_000;
const HEADERS = {
  'content-type': 'application/jsonl; charset=utf-8',
  'content-disposition': 'attachment; filename="covenant-events.jsonl"',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

type Page = Output<typeof listEvents>;

export interface ExportRequest {
  readonly principal: Principal;
  /** The filter fields of `events.list`. */
  readonly filter: Readonly<Record<string, string>>;
  current(): Promise<boolean>;
}

/**
 * Streams the matching events up to the current end of the journal, one JSON object per line. It reads page by page, as fast as the client reads, and calls
 * the same action as the dashboard. If the first page is refused, returns that refusal.
 */
export async function exportEvents(app: App, { principal, filter, current }: ExportRequest): Promise<Response | CallAnswer> {
  const page = (after: number): Promise<CallAnswer> =>
    app.dispatch.action({ name: 'events.list', args: { after, limit: PAGE, ...filter }, principal, surface: 'dashboard' });
  const first = await page(0);
  if (first.isError) return first;
  const end = (first.reply.data as Page).head.seq;
  let next: CallAnswer | undefined = first;
  let looked = 0;
  /** Reads the next page. Returns an empty text if no event of the page matches the filter. */
  const read = async (): Promise<string> => {
    const answer: CallAnswer = next ?? (await page(looked));
    next = undefined;
    if (answer.isError || !(await current())) throw new Error('the rest of the journal could not be read');
    const data = answer.reply.data as Page;
    looked = data.looked.to;
    return data.items
      .filter(({ seq }) => seq <= end)
      .map((event) => `${JSON.stringify(event)}\n`)
      .join('');
  };
  const lines = new ReadableStream<Uint8Array>({
    async pull(controller) {
      // Loops until it has data, because a stream calls `pull` again only after it has received data.
      let text = '';
      while (text === '' && looked < end) text = await read();
      if (text !== '') controller.enqueue(new TextEncoder().encode(text));
      if (looked >= end) controller.close();
    },
  });
  return new Response(lines, { headers: HEADERS });
}
