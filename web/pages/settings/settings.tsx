import { Tokens } from '../identity/tokens.tsx';
import { Visibility } from '../identity/visibility.tsx';

export function Settings() {
  return (
    <div className="grid max-w-4xl gap-8">
      <title>Settings · Covenant</title>
      <h1>Settings</h1>
      <Tokens />
      <Visibility />
    </div>
  );
}
