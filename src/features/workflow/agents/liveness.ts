import type { AgentRow } from '../../../storage/schema-rows.ts';
import type { AgentStatus } from './contract.ts';

export const HEARTBEAT_MS = 30_000;
/** Three missed heartbeats. The claims of an agent that was silent for so long are given to others. */
export const LEASE_MS = 90_000;

/** Until when the agent holds what it has claimed, if nothing more is heard of it. */
export const leaseEnd = ({ last_seen_at }: Pick<AgentRow, 'last_seen_at'>): number => last_seen_at + LEASE_MS;

export const isSilent = (agent: Pick<AgentRow, 'last_seen_at'>, now: number): boolean => now >= leaseEnd(agent);

/** The sweep may be a few seconds late; what is told never is. */
export const statusAt = (agent: Pick<AgentRow, 'status' | 'last_seen_at'>, now: number): AgentStatus => (isSilent(agent, now) ? 'offline' : agent.status);
