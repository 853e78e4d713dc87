import type { Instance } from '../../api.ts';

export function PullLink({ instance: { pr_number, pr_url } }: { instance: Instance }) {
  if (pr_number === null) return '—';
  // The address comes from GitHub. If it does not use http or https, only the number is shown.
  if (!pr_url?.match(/^https?:\/\//)) return `#${pr_number}`;
  return (
    <a className="link" href={pr_url} target="_blank" rel="noreferrer">
      #{pr_number}
    </a>
  );
}
