import { type ActionResult, asApiError, call } from '../../api.ts';
import { SharedValue, useSharedValue } from '../../shared-value.ts';

type Break = NonNullable<ActionResult<'events.verify'>['first_break']>;

/** The last event that this browser has verified. When the browser verifies again, the journal must still contain that event with the same hash. */
interface Anchor {
  readonly seq: number;
  readonly root: string;
  readonly at: number;
}

export interface ChainState {
  readonly status: 'unchecked' | 'running' | 'intact' | 'broken' | 'stopped' | 'failed';
  readonly verifiedTo: number;
  /** The number of the newest event in the journal, as last reported. */
  readonly head: number;
  readonly root: string | null;
  /** The last pruned event, after which the journal begins. Its `seq` is 0 if nothing was pruned. */
  readonly begin: { readonly seq: number; readonly hash: string } | null;
  readonly firstBreak: Break | null;
  /** The last event that this browser verified in an earlier check, and whether the journal still contains it. */
  readonly anchor: Anchor | null;
  readonly anchorHolds: boolean | null;
  readonly error: Error | null;
  readonly at: number | null;
}

const START: ChainState = {
  status: 'unchecked',
  verifiedTo: 0,
  head: 0,
  root: null,
  begin: null,
  firstBreak: null,
  anchor: null,
  anchorHolds: null,
  error: null,
  at: null,
};
const SLICE = 5_000;
const STORED = 'covenant.anchor.';

/** Each tab runs one check, which continues while the person opens other pages. */
const chain = new SharedValue<ChainState>(START);
let turn = 0;

export const useChain = (): ChainState => useSharedValue(chain);

export function stopVerifying(): void {
  turn++;
  chain.change({ status: 'stopped' });
}

/** Verifies all events in slices. If an earlier check stored an anchor, also compares the hash of the anchored event. */
export async function verifyChain(workspace: string): Promise<void> {
  const mine = ++turn;
  const anchor = anchorOf(workspace);
  chain.change({ ...START, status: 'running', head: chain.get().head, anchor });
  try {
    for (let done = false; !done; ) {
      const { verifiedTo: after, root } = chain.get();
      // One slice must end at the anchor, because only the hash at the end of a slice is known here. The first slice reads one event, to find out where the
      // journal begins.
      const limit = anchor && after < anchor.seq ? (root === null ? 1 : Math.min(SLICE, anchor.seq - after)) : SLICE;
      const part = await call('events.verify', { limit, ...(root !== null && { after, previous: root }) });
      if (mine !== turn) return;
      const met = [{ seq: part.verified_to, hash: part.root }, part.anchor].find(({ seq }) => seq === anchor?.seq);
      const anchorHolds = met ? met.hash === anchor?.root : chain.get().anchorHolds;
      chain.change({ verifiedTo: part.verified_to, root: part.root, begin: part.anchor, head: part.head.seq, firstBreak: part.first_break, anchorHolds });
      done = part.done;
    }
    conclude(workspace);
  } catch (error) {
    if (mine === turn) chain.change({ status: 'failed', error: asApiError(error) });
  }
}

function conclude(workspace: string): void {
  const { anchor, begin, anchorHolds, firstBreak, verifiedTo, root } = chain.get();
  // If the journal ends before the anchor, the anchored event was lost. If the anchored event was pruned, there is nothing to compare.
  const holds = anchor && anchor.seq >= (begin?.seq ?? 0) ? (anchorHolds ?? false) : null;
  const at = Date.now();
  chain.change({ status: firstBreak === null && holds !== false ? 'intact' : 'broken', anchorHolds: holds, at });
  if (firstBreak === null && holds !== false && root !== null) keep(workspace, { seq: verifiedTo, root, at });
}

function anchorOf(workspace: string): Anchor | null {
  try {
    const { seq, root, at } = JSON.parse(localStorage.getItem(STORED + workspace) ?? '{}') as Partial<Anchor>;
    return typeof seq === 'number' && seq > 0 && typeof root === 'string' && typeof at === 'number' ? { seq, root, at } : null;
  } catch {
    return null;
  }
}

function keep(workspace: string, anchor: Anchor): void {
  try {
    localStorage.setItem(STORED + workspace, JSON.stringify(anchor));
  } catch {
    // If the browser has no storage, the next check cannot compare an anchor.
  }
}

/** Deletes the anchor. Used if somebody intentionally replaced the journal with a new one. */
export function forgetAnchor(workspace: string): void {
  localStorage.removeItem(STORED + workspace);
  chain.change(START);
}
