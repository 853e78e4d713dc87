/** Of `[limits]` in config.toml: how long sign-ins and tokens last. */
export interface IdentityLimits {
  readonly session_idle_days: number;
  /** 0: an agent's token does not expire. */
  readonly agent_token_days: number;
}
