/** The token that the agent put among the arguments, and the arguments as the tool knows them. */
export function takeToken(args: Record<string, unknown>): { given: string | undefined; rest: Record<string, unknown> } {
  // Anything but a string is no token: the server refuses it by name, like every unknown field.
  if (typeof args.token !== 'string') return { given: undefined, rest: args };
  const { token, ...rest } = args;
  return { given: token as string, rest };
}
