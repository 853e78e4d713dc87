import type { Node } from '@xyflow/react';
import { createContext, use } from 'react';
import type { WorkflowGraph } from '../../api.ts';

export type DrawnNode = Node<{ node: WorkflowGraph['nodes'][number] }>;

export const Turning = createContext<(key: string) => void>(() => {});

/** Opens a group, or folds it. */
export const useTurn = (): ((key: string) => void) => use(Turning);
