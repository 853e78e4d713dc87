import { ChainVerifier } from '../../storage/chain-verifier.ts';
import { type JournalEvent, readEvents, readHead } from '../../storage/journal.ts';
import { openStore, type StoreOptions } from '../../storage/open.ts';
import type { ClientLog } from './client.ts';
import { effectProblems } from './history.ts';
import { HolderCheck } from './holders.ts';

const WORKSPACE = 'ws_default';
const PAGE = 5_000;

export interface Evidence {
  /** Descriptions of broken promises. Empty if there are none. */
  readonly problems: string[];
  readonly events: number;
}

/** Reads the store after the test and compares it with the answers that the clients received. */
export async function evidence(log: ClientLog, database: Pick<StoreOptions, 'path' | 'url'>): Promise<Evidence> {
  const store = await openStore({ ...database, now: Date.now, statementTimeoutMs: 60_000 });
  try {
    const present = await rowsOf(store.reader);
    const asked = new Set(log.calls.flatMap(({ effects }) => effects));
    const holders = new HolderCheck(log.fenced);
    const chain = new ChainVerifier();
    let last: JournalEvent | undefined;
    for (
      let page = await readEvents(store.reader, WORKSPACE, 0, PAGE);
      page.length > 0;
      page = await readEvents(store.reader, WORKSPACE, last?.seq ?? 0, PAGE)
    ) {
      for (const event of page) {
        chain.add(event);
        holders.add(event);
        const called = `call:${event.payload.arguments_sha256}`;
        if (event.category === 'usage' && event.payload.outcome === 'ok' && asked.has(called)) present.set(called, (present.get(called) ?? 0) + 1);
      }
      last = page.at(-1);
    }
    const { firstBreak, events } = chain.finish(await readHead(store.reader, WORKSPACE));
    const broken = firstBreak ? [`the chain breaks at ${firstBreak.seq}: ${firstBreak.reason}`] : [];
    return { problems: [...effectProblems(log.calls, present), ...holders.problems, ...broken, ...log.faults], events };
  } finally {
    await store.close();
  }
}

type Reader = Awaited<ReturnType<typeof openStore>>['reader'];

/** Counts how often each marker occurs in the table that its call writes to. Rows from the setup of the scene have no marker. */
async function rowsOf(db: Reader): Promise<Map<string, number>> {
  const notes = await db.selectFrom('notes').select('title as marker').execute();
  const tasks = await db.selectFrom('tasks').select('title as marker').execute();
  const agents = await db.selectFrom('agents').select('name as marker').execute();
  const messages = await db.selectFrom('messages').select('subject as marker').execute();
  const spans = await db.selectFrom('agent_spans').select('model as marker').execute();
  const steps = await db.selectFrom('workflow_tasks').select('name as marker').where('name', 'not like', 'step %').execute();
  const checkpoints = await db.selectFrom('checkpoints').select('summary as marker').where('type', '=', 'progress').execute();
  const grants = await db.selectFrom('grants').select('action as marker').where('action', 'like', 'tool.call.load_%').execute();
  const handoffs = await db.selectFrom('cycle_handoffs').select('payload').execute();
  const handed = handoffs.map(({ payload }) => ({ marker: (JSON.parse(payload) as { notes: string[] }).notes[0] ?? null }));
  const tables = {
    note: notes,
    task: tasks,
    agent: agents,
    message: messages,
    span: spans,
    step: steps,
    checkpoint: checkpoints,
    grant: grants,
    handoff: handed,
  };
  const counts = new Map<string, number>();
  for (const [kind, rows] of Object.entries(tables)) {
    for (const { marker } of rows) counts.set(`${kind}:${marker}`, (counts.get(`${kind}:${marker}`) ?? 0) + 1);
  }
  return counts;
}
