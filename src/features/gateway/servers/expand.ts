/** `$NAME`, `${NAME}`, and `$$` for a dollar; any other dollar stands for itself. Braces that are not closed hold no name. */
const VARIABLE = /\$(?:(\$)|\{([^}]*\}?)|([A-Za-z_][A-Za-z0-9_]*))/g;

export class Unexpandable extends Error {
  override readonly name = 'Unexpandable';
}

/** What a variable that is not set should have said is not guessed: a server started with an empty token or path does harm. */
export function expand(text: string, variable: (name: string) => string | undefined): string {
  return text.replace(VARIABLE, (_all, dollar: string | undefined, braced: string | undefined, bare: string | undefined) => {
    if (dollar) return '$';
    const name = bare ?? /^([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(braced ?? '')?.[1];
    if (name === undefined) throw new Unexpandable('a dollar and braces must hold the name of a variable');
    const value = variable(name);
    if (value === undefined) throw new Unexpandable(`the variable ${name} is not set where Covenant runs`);
    return value;
  });
}
